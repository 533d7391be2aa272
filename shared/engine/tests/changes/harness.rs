//! A configuration in memory, records in memory, the builtin provider: plan and apply without a
//! process.

use async_trait::async_trait;
use engine::changes::Action;
use engine::clock::Clock;
use engine::doubles::Doubles;
use engine::plan::{Plan, PlanMode};
use engine::random::Random;
use engine::remembered::RememberedRecords;
use engine::state::State;
use engine::{Applied, ApplyOptions, Context, Environment, PlanOptions, Stop, Variables};
use language::diagnostics::Diagnostics;
use language::files::{FileSystem, Memory};
use language::module::{Configuration, LoadOptions, load};
use language::source::Sources;
use language::variables::{InputValue, ValueSource};
use providers::builtin::BuiltinProvider;
use providers::{Provider, ProviderError, Providers};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use values::Value;
use values::address::ProviderAddress;

pub(crate) struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_700_000_000).unwrap()
    }
    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Random for Counter {
    fn fill(&self, buffer: &mut [u8]) {
        let n = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        buffer.fill(0);
        for (target, source) in buffer.iter_mut().zip(n.to_le_bytes()) {
            *target = source;
        }
    }
}

struct Builtin(Arc<dyn Random>);

#[async_trait]
impl Providers for Builtin {
    async fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError> {
        match address.is_builtin() {
            true => Ok(Arc::new(BuiltinProvider::new(self.0.clone(), None))),
            false => Err(ProviderError::NotInstalled { provider: address.clone() }),
        }
    }
}

/// An estate that lives for one test.
pub(crate) struct TestEstate {
    pub(crate) records: Arc<RememberedRecords>,
    pub(crate) stop: Stop,
    pub(crate) doubles: Arc<Doubles>,
    random: Arc<dyn Random>,
    clock: Arc<dyn Clock>,
    providers: Arc<dyn Providers>,
}

impl TestEstate {
    pub(crate) fn new() -> TestEstate {
        TestEstate::with(Arc::new(Fixed), |random| Arc::new(Builtin(random)))
    }

    pub(crate) fn with(
        clock: Arc<dyn Clock>,
        providers: impl FnOnce(Arc<dyn Random>) -> Arc<dyn Providers>,
    ) -> TestEstate {
        let random: Arc<dyn Random> = Arc::new(Counter::default());
        let providers = providers(random.clone());
        TestEstate {
            records: Arc::default(),
            stop: Stop::new(),
            doubles: Arc::default(),
            random,
            clock,
            providers,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.records.state()
    }

    pub(crate) fn set_state(&self, state: State) {
        self.records.set_state(state);
    }

    fn context(&self, files: Arc<dyn FileSystem>) -> Context {
        let environment = Environment {
            files,
            working_directory: "/work".into(),
            home_directory: None,
            clock: self.clock.clone(),
            random: self.random.clone(),
            providers: self.providers.clone(),
            hooks: Vec::new(),
            parallelism: 10,
            workspace: "default".into(),
        };
        Context::new(environment, self.stop.clone()).with_doubles(self.doubles.clone())
    }

    pub(crate) async fn plan_in(
        &self,
        files: &[(&str, &str)],
        variables: &[(&str, Value)],
        mode: PlanMode,
    ) -> (Arc<Configuration>, Plan, Diagnostics) {
        let options = PlanOptions { mode, ..PlanOptions::default() };
        self.plan_with(files, variables, options).await
    }

    pub(crate) async fn plan_with(
        &self,
        files: &[(&str, &str)],
        variables: &[(&str, Value)],
        options: PlanOptions,
    ) -> (Arc<Configuration>, Plan, Diagnostics) {
        let memory = memory(files);
        let sources = Arc::new(Sources::new());
        let (configuration, mut diagnostics) =
            load(&*memory, Path::new("."), sources, LoadOptions::default());
        let configuration = Arc::new(configuration);
        let given: Variables = variables
            .iter()
            .map(|(name, value)| {
                let value = InputValue { value: value.clone(), source: ValueSource::Caller };
                (Arc::from(*name), value)
            })
            .collect();
        let context = self.context(memory);
        let (plan, found) =
            context.plan(&configuration, given, Arc::new(self.state()), options).await;
        diagnostics.extend(found);
        (configuration, plan, diagnostics)
    }

    /// Plans one file; panics on errors.
    pub(crate) async fn plan(&self, text: &str) -> Plan {
        let (_, plan, diagnostics) =
            self.plan_in(&[("main.tf", text)], &[], PlanMode::Normal).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        plan
    }

    /// The summaries of the errors that planning one file gives.
    pub(crate) async fn errors(&self, text: &str) -> Vec<String> {
        let (_, _, diagnostics) = self.plan_in(&[("main.tf", text)], &[], PlanMode::Normal).await;
        diagnostics.iter().filter(|d| d.is_error()).map(|d| d.summary.clone()).collect()
    }

    pub(crate) async fn apply_in(
        &self,
        files: &[(&str, &str)],
        variables: &[(&str, Value)],
        mode: PlanMode,
    ) -> (Plan, Applied, Diagnostics) {
        let (configuration, plan, diagnostics) = self.plan_in(files, variables, mode).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        let (applied, found) = self.apply_plan(files, &configuration, plan.clone()).await;
        (plan, applied, found)
    }

    pub(crate) async fn apply_plan(
        &self,
        files: &[(&str, &str)],
        configuration: &Arc<Configuration>,
        plan: Plan,
    ) -> (Applied, Diagnostics) {
        let (context, records) = (self.context(memory(files)), self.records.clone());
        context.apply(configuration, Arc::new(plan), records, ApplyOptions::default()).await
    }

    /// Plans and applies with options; panics on errors.
    pub(crate) async fn apply_with(
        &self,
        files: &[(&str, &str)],
        variables: &[(&str, Value)],
        options: PlanOptions,
    ) -> Applied {
        let (configuration, plan, diagnostics) = self.plan_with(files, variables, options).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        let context = self.context(memory(files));
        let (applied, found) = context
            .apply(&configuration, Arc::new(plan), self.records.clone(), ApplyOptions::default())
            .await;
        assert!(!found.has_errors(), "{found:#?}");
        applied
    }

    /// Applies one file; panics on errors.
    pub(crate) async fn apply(&self, text: &str) -> Applied {
        let (_, applied, diagnostics) =
            self.apply_in(&[("main.tf", text)], &[], PlanMode::Normal).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        applied
    }
}

fn memory(files: &[(&str, &str)]) -> Arc<Memory> {
    Arc::new(files.iter().copied().collect())
}

/// `address action` of every change that is one.
pub(crate) fn actions(plan: &Plan) -> Vec<String> {
    plan.changes
        .resources
        .iter()
        .filter(|c| c.action != Action::NoOp)
        .map(|c| match c.reason {
            Some(reason) => format!("{} {:?} ({})", c.address, c.action, reason.as_str()),
            None => format!("{} {:?}", c.address, c.action),
        })
        .collect()
}
