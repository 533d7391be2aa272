//! The way in: operations on one configuration, one at a time.

mod importing;

use crate::applying::{self, Applied, ApplyOptions};
use crate::clock::moment;
use crate::doubles::Doubles;
use crate::environment::Environment;
use crate::ephemeral;
use crate::evaluation::{EvalContext, Operation};
use crate::inspection::{Basis, Inspection};
use crate::plan::{Plan, PlanMode, RefreshedInstance};
use crate::planning::{self, GeneratedResource, PlanOptions, Rehearsed};
use crate::provider_pool::ProviderPool;
use crate::provisioning;
use crate::recorder::Recorder;
use crate::state::State;
use crate::stop::{Deadline, Stop, StopCause, StopLevel};
use crate::transaction::{Executing, InFlight, Settled};
use crate::unanswered::Unanswered;
use jiff::Timestamp;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::{Configuration, validate_module_arguments, validate_references};
use language::variables::{InputValue, ValueSource};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use values::address::ResourceInstance;

/// How long closing ephemeral resources may take once an operation was given up.
const CLOSING: Duration = Duration::from_secs(5);

/// Values for root variables, by name.
pub type Variables = BTreeMap<Arc<str>, InputValue>;

/// Validates, plans and applies. One operation at a time: others wait.
pub struct Context {
    environment: Environment,
    stop: Stop,
    doubles: Arc<Doubles>,
    busy: Mutex<()>,
}

impl Context {
    /// A context in these surroundings. `stop` is shared with whoever may ask to stop.
    pub fn new(environment: Environment, stop: Stop) -> Context {
        Context { environment, stop, doubles: Arc::default(), busy: Mutex::new(()) }
    }

    /// The same, with what stands in for providers and resources in a test.
    #[must_use]
    pub fn with_doubles(self, doubles: Arc<Doubles>) -> Context {
        Context { doubles, ..self }
    }

    /// Checks a configuration as far as that is possible without values for its variables, records
    /// or the world.
    pub async fn validate(&self, configuration: &Arc<Configuration>) -> Diagnostics {
        let _busy = self.busy.lock().await;
        let pool = self.pool();
        let diagnostics = self.supervise(&pool, self.checked(configuration, &pool)).await;
        diagnostics.unwrap_or_else(interrupted)
    }

    /// Plans. After errors the plan is incomplete: it shows what could be planned and cannot be
    /// applied.
    pub async fn plan(
        &self,
        configuration: &Arc<Configuration>,
        variables: Variables,
        previous: Arc<State>,
        options: PlanOptions,
    ) -> (Plan, Diagnostics) {
        let _busy = self.busy.lock().await;
        let pool = self.pool();
        let mode = options.mode;
        let work = async {
            let mut diagnostics = self.checked(configuration, &pool).await;
            diagnostics.extend(options.contradiction());
            diagnostics.extend(provisioning::unsupported(configuration, mode));
            diagnostics.extend(planning::removed_but_declared(configuration));
            diagnostics.extend(planning::imported_but_not_declared(configuration));
            let now = self.environment.clock.now();
            if diagnostics.has_errors() {
                let plan = Plan::empty(mode, now.as_second(), previous.clone());
                return (plan, diagnostics);
            }
            let mut rehearsed = Rehearsed::default();
            if mode == PlanMode::Destroy && options.refresh && !previous.outputs.is_empty() {
                let (variables, options) = (variables.clone(), options.clone());
                rehearsed =
                    self.rehearsed(configuration, variables, previous.clone(), options, now).await;
            }
            let variables = variables.clone();
            let context =
                self.evaluation(configuration, Operation::Plan, variables, Some(now), &pool);
            let (mut plan, found) =
                planning::plan(context, options, previous.clone(), rehearsed).await;
            diagnostics.extend(found);
            if !diagnostics.has_errors() {
                let context = self.planned(configuration, &plan, Operation::Plan, &pool);
                diagnostics.extend(applying::check_order(&context, &plan));
                plan.complete &= !diagnostics.has_errors();
            }
            (plan, without_repetitions(diagnostics))
        };
        match self.supervise(&pool, work).await {
            Some(result) => result,
            None => {
                let now = self.environment.clock.now().as_second();
                (Plan::empty(mode, now, previous.clone()), interrupted())
            }
        }
    }

    /// Writes configuration for objects that import blocks name and nothing declares. Nothing is planned or recorded.
    pub async fn generate(
        &self,
        configuration: &Arc<Configuration>,
        variables: Variables,
        previous: Arc<State>,
        options: PlanOptions,
    ) -> (Vec<GeneratedResource>, Diagnostics) {
        let _busy = self.busy.lock().await;
        let pool = self.pool();
        let work = async {
            let diagnostics = self.checked(configuration, &pool).await;
            if diagnostics.has_errors() {
                return (Vec::new(), diagnostics);
            }
            let now = self.environment.clock.now();
            let context =
                self.evaluation(configuration, Operation::Plan, variables, Some(now), &pool);
            planning::generate(context, options, previous).await
        };
        let generated = self.supervise(&pool, work).await;
        generated.unwrap_or_else(|| (Vec::new(), interrupted()))
    }

    /// Applies a plan. What was done is recorded through `recorder` as it is done. With a deadline, what
    /// could not be begun in time is left to another call.
    pub async fn apply(
        &self,
        configuration: &Arc<Configuration>,
        plan: Arc<Plan>,
        recorder: Arc<dyn Recorder>,
        options: ApplyOptions,
    ) -> (Applied, Diagnostics) {
        let _busy = self.busy.lock().await;
        let (pool, deadline) = (self.pool(), options.deadline);
        let work = async {
            let context = self.planned(configuration, &plan, Operation::Apply, &pool);
            applying::apply(context, plan.clone(), recorder, options).await
        };
        let applied = self.supervise_until(&pool, deadline, work).await;
        applied.unwrap_or_else(|| match self.stop.cause() {
            Some(StopCause::Deadline) => (Applied::continued(), Diagnostics::new()),
            _ => (Applied::default(), interrupted()),
        })
    }

    /// Before a transaction ends: lets the time pass in which what its providers never answered may still come to pass.
    ///
    /// # Errors
    /// Where there is no time for that, or a person does not want to wait: the transaction is to be paused then, and whoever
    /// goes on with it finds out.
    pub async fn outlast(
        &self,
        executing: &Executing,
        deadline: Option<Deadline>,
    ) -> Result<(), Unanswered> {
        let Some(unanswered) = executing.unanswered() else { return Ok(()) };
        match unanswered.outlast(&self.environment, deadline, self.stop.aborted()).await {
            true => Ok(()),
            false => Err(unanswered),
        }
    }

    /// Reads instances from the world as planning did, for the comparison with what a plan rests
    /// on. Instances whose provider says that they are gone have no current object.
    pub async fn read_world(
        &self,
        configuration: &Arc<Configuration>,
        plan: &Plan,
        addresses: &BTreeSet<ResourceInstance>,
    ) -> (BTreeMap<ResourceInstance, RefreshedInstance>, Diagnostics) {
        let _busy = self.busy.lock().await;
        let pool = self.pool();
        let work = async {
            let context = self.planned(configuration, plan, Operation::Plan, &pool);
            planning::read_world(context, plan, addresses).await
        };
        self.supervise(&pool, work).await.unwrap_or_else(|| (BTreeMap::new(), interrupted()))
    }

    /// Finds out what became of a provider call of a dead transaction, once it can come to pass no more, if that is before the
    /// deadline. Providers are configured with what `plan`, our own, knew. Observers hear of waiting alone.
    pub(crate) async fn settle(
        &self,
        configuration: &Arc<Configuration>,
        plan: &Plan,
        in_flight: &InFlight,
        deadline: Option<Deadline>,
    ) -> Settled {
        let _busy = self.busy.lock().await;
        let Some(provider) = applying::asked(configuration, in_flight) else {
            return Settled::InDoubt;
        };
        if let Some(settled) = applying::settled_without_asking(&provider, in_flight) {
            return settled;
        }
        // The builtin provider changes nothing outside the record.
        if !provider.provider.is_builtin() {
            let (environment, address) = (&self.environment, &in_flight.address);
            let unanswered = Unanswered::until(address, environment.clock.now(), in_flight.quiet);
            let stopping = self.stop.reached(StopLevel::Draining);
            if !unanswered.outlast(environment, deadline, stopping).await {
                let until = moment(in_flight.quiet);
                return Settled::NotNow(format!("it may still come to pass until {until}"));
            }
        }
        let unobserved = self.unobserved();
        let pool = self.pool();
        let work = async {
            let context = unobserved.planned(configuration, plan, Operation::Plan, &pool);
            applying::settle(context, plan, in_flight, &provider).await
        };
        let settled = unobserved.supervise(&pool, work).await;
        settled.unwrap_or_else(|| Settled::NotNow("the operation was stopped".into()))
    }

    /// A context in the same surroundings, without observers.
    pub fn unobserved(&self) -> Context {
        let environment = Environment { hooks: Vec::new(), ..self.environment.clone() };
        Context::new(environment, self.stop.clone()).with_doubles(self.doubles.clone())
    }

    /// Evaluates what is named in a configuration, for questions about it. Variables without a value are
    /// unknown. What cannot be evaluated is reported, and is unknown too. Providers run until the inspection is closed,
    /// since questions may call their functions.
    pub async fn inspect(
        &self,
        configuration: &Arc<Configuration>,
        variables: Variables,
        basis: Basis,
    ) -> (Option<Inspection>, Diagnostics) {
        let _busy = self.busy.lock().await;
        let pool = self.pool();
        let now = self.environment.clock.now();
        let operation = Operation::Inspect;
        let context = self.evaluation(configuration, operation, variables, Some(now), &pool);
        match self.attend(&pool, None, Inspection::begin(context, basis)).await {
            Some((inspection, diagnostics)) => (Some(inspection), diagnostics),
            None => {
                pool.close().await;
                (None, interrupted())
            }
        }
    }

    fn pool(&self) -> Arc<ProviderPool> {
        let doubles = self.doubles.clone();
        Arc::new(ProviderPool::new(self.environment.providers.clone(), doubles))
    }

    /// The normal plan before a destroy plan, seen by nobody. Its providers are its own: none is configured
    /// twice.
    async fn rehearsed(
        &self,
        configuration: &Arc<Configuration>,
        variables: Variables,
        previous: Arc<State>,
        options: PlanOptions,
        now: Timestamp,
    ) -> Rehearsed {
        let pool = self.pool();
        let (unobserved, operation) = (self.unobserved(), Operation::Plan);
        let context = unobserved.evaluation(configuration, operation, variables, Some(now), &pool);
        let rehearsed = planning::rehearse(context, options, previous).await;
        pool.close().await;
        rehearsed
    }

    /// References, arguments, types, and what providers say of the configuration.
    async fn checked(
        &self,
        configuration: &Arc<Configuration>,
        pool: &Arc<ProviderPool>,
    ) -> Diagnostics {
        let missing = provisioning::unavailable(configuration);
        if missing.has_errors() {
            return missing;
        }
        // Without what a module asks for, nothing is evaluated.
        let arguments = validate_module_arguments(configuration);
        if arguments.has_errors() {
            return arguments;
        }
        let mut diagnostics = validate_references(configuration);
        let context =
            self.evaluation(configuration, Operation::Validate, Variables::new(), None, pool);
        let options = PlanOptions::default();
        let (_, found) =
            planning::plan(context, options, Arc::default(), Rehearsed::default()).await;
        diagnostics.extend(found);
        without_repetitions(diagnostics)
    }

    fn planned(
        &self,
        configuration: &Arc<Configuration>,
        plan: &Plan,
        operation: Operation,
        pool: &Arc<ProviderPool>,
    ) -> EvalContext {
        let given = |value: &values::Value| InputValue {
            value: value.clone(),
            source: ValueSource::Caller,
        };
        let variables = plan.variables.iter().map(|(name, v)| (name.clone(), given(v))).collect();
        let made = Timestamp::from_second(plan.timestamp).ok();
        self.evaluation(configuration, operation, variables, made, pool)
    }

    fn evaluation(
        &self,
        configuration: &Arc<Configuration>,
        operation: Operation,
        variables: Variables,
        plan_timestamp: Option<Timestamp>,
        pool: &Arc<ProviderPool>,
    ) -> EvalContext {
        EvalContext::new(
            self.environment.clone(),
            configuration.clone(),
            operation,
            variables,
            plan_timestamp,
            pool.clone(),
            self.stop.clone(),
        )
    }

    async fn supervise<T>(
        &self,
        pool: &Arc<ProviderPool>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        self.supervise_until(pool, None, work).await
    }

    /// Does the work as [`Context::attend`] does. Providers are ended and reaped whatever happens, after what is open at
    /// them was closed as far as there is time for that.
    async fn supervise_until<T>(
        &self,
        pool: &Arc<ProviderPool>,
        deadline: Option<Deadline>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let result = self.attend(pool, deadline, work).await;
        let in_time = result.is_some() || self.stop.cause() == Some(StopCause::Interrupt);
        if in_time && pool.ephemerals.are_open() {
            tokio::select! {
                biased;
                () = ephemeral::close_left(&pool.ephemerals, &self.environment) => {}
                () = self.environment.clock.sleep(CLOSING) => {}
            }
        }
        pool.close().await;
        result
    }

    /// Does the work, passes a request to stop on to providers, and gives up when asked for good or
    /// when the answer is due.
    async fn attend<T>(
        &self,
        pool: &Arc<ProviderPool>,
        deadline: Option<Deadline>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let due = async {
            match deadline {
                Some(deadline) => deadline.watch(&*self.environment.clock, &self.stop).await,
                None => std::future::pending().await,
            }
        };
        let pass_on = async {
            self.stop.reached(StopLevel::Graceful).await;
            for hook in &self.environment.hooks {
                hook.stopping();
            }
            pool.stop().await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            // What is ready at once counts in this order.
            biased;
            result = work => Some(result),
            () = self.stop.aborted() => None,
            () = due => None,
            () = pass_on => None,
        }
    }
}

/// Validation and planning may find the same mistake.
fn without_repetitions(diagnostics: Diagnostics) -> Diagnostics {
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut seen = crate::hashing::HashSet::default();
    for diagnostic in diagnostics {
        let key = (
            diagnostic.summary.clone(),
            diagnostic.detail.clone(),
            diagnostic.subject,
            diagnostic.address.clone(),
        );
        if seen.insert(key) {
            kept.push(diagnostic);
        }
    }
    kept.into_iter().collect()
}

fn interrupted() -> Diagnostics {
    let error = Diagnostic::error(
        "Operation interrupted",
        "The operation was stopped for good before it ended. What had been done by then is recorded; provider calls in flight were abandoned, so the next plan reads again what they changed.",
    );
    [error].into_iter().collect()
}
