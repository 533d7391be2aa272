//! Plan, validate and apply on an estate in memory.

use crate::surroundings::{Counter, SetClock};
use crate::usual_requests::{to_apply, to_plan};
use async_trait::async_trait;
use engine::estate::Estate;
use engine::random::Random;
use engine::record::key::EstateName;
use engine::saved_plan::HmacKey;
use engine::transaction::Terms;
use engine::verdict::{Stage, Verdict};
use engine::{Environment, Stop};
use language::files::{FileSystem, Memory};
use providers::builtin::BuiltinProvider;
use providers::{Provider, ProviderError, Providers};
use records::{CountingStore, MemoryStore, Method, RecordStore};
use runs::apply::{ApplyOutcome, PlanToApply};
use runs::plan::PlanOutcome;
use runs::source::{self, Modules};
use runs::{RunError, Workplace};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use values::address::ProviderAddress;

const CONFIGURATION: &str = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";

pub(crate) struct BuiltinOnly(pub(crate) Arc<BuiltinProvider>);

#[async_trait]
impl Providers for BuiltinOnly {
    async fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError> {
        match *address == ProviderAddress::builtin() {
            true => Ok(self.0.clone()),
            false => Err(ProviderError::NotInstalled { provider: address.clone() }),
        }
    }
}

struct Scene {
    workplace: Workplace,
    store: Arc<CountingStore<MemoryStore>>,
    clock: Arc<SetClock>,
    files: Arc<dyn FileSystem>,
    key: HmacKey,
}

fn scene(configuration: &str) -> Scene {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let clock = Arc::new(SetClock::at(1_000_000));
    let random: Arc<dyn Random> = Arc::new(Counter::default());
    let files: Arc<dyn FileSystem> =
        Arc::new([("main.tf", configuration)].into_iter().collect::<Memory>());
    let name = EstateName::new("default").unwrap();
    let estate = Estate::open(store.clone(), "", name, clock.clone(), random.clone()).unwrap();
    let environment = Environment {
        files: files.clone(),
        working_directory: PathBuf::from("/"),
        home_directory: None,
        clock: clock.clone(),
        random: random.clone(),
        providers: Arc::new(BuiltinOnly(Arc::new(BuiltinProvider::new(random, None)))),
        hooks: Vec::new(),
        parallelism: 10,
        workspace: "default".into(),
    };
    let workplace = Workplace {
        estate,
        contract: None,
        environment,
        stop: Stop::new(),
        terms: Terms::default(),
        locked: BTreeMap::new(),
    };
    Scene { workplace, store, clock, files, key: HmacKey::new([7; 32]) }
}

impl Scene {
    /// The same estate with another configuration.
    fn configured(self, configuration: &str) -> Scene {
        let files: Arc<dyn FileSystem> =
            Arc::new([("main.tf", configuration)].into_iter().collect::<Memory>());
        let environment = Environment { files: files.clone(), ..self.workplace.environment };
        Scene { workplace: Workplace { environment, ..self.workplace }, files, ..self }
    }

    async fn plan(&self) -> PlanOutcome {
        let (source, diagnostics) = source::from_directory(&*self.files, Modules::All);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        runs::plan::plan(&self.workplace, to_plan(source)).await.unwrap()
    }

    async fn saved(&self) -> Vec<u8> {
        self.plan().await.saved.encode(&self.key).await.unwrap().bytes.to_vec()
    }

    async fn apply(&self, plan: PlanToApply<'_>, run: &str) -> Result<ApplyOutcome, RunError> {
        runs::apply::apply(&self.workplace, to_apply(plan, run)).await
    }

    async fn apply_saved(&self, bytes: &[u8], run: &str) -> Result<ApplyOutcome, RunError> {
        self.apply(PlanToApply::Saved { bytes, verifier: &self.key }, run).await
    }

    async fn keys(&self, prefix: &str) -> usize {
        self.store.list(prefix).await.unwrap().len()
    }
}

fn rejecting(verdicts: &[Verdict]) -> Vec<Stage> {
    verdicts.iter().filter(|verdict| verdict.is_reject()).map(|verdict| verdict.stage).collect()
}

#[tokio::test]
async fn a_saved_plan_is_validated_and_applied_once() {
    let scene = scene(CONFIGURATION);
    let bytes = scene.saved().await;
    let validated =
        runs::validate::validate(&scene.workplace, &bytes, &scene.key, &[]).await.unwrap();
    assert!(validated.passes, "{:?}", validated.verdicts);
    assert_eq!(scene.keys("default/r/").await, 0, "validating wrote");

    let applied = scene.apply_saved(&bytes, "first").await.unwrap();
    assert_eq!(applied.applied.unwrap().summary.add, 1);
    assert_eq!(scene.keys("default/r/i/").await, 1);
    assert!(scene.plan().await.plan().changes.is_empty());

    let again = scene.apply_saved(&bytes, "second").await.unwrap();
    assert!(again.applied.is_none());
    assert_eq!(rejecting(&again.verdicts), [Stage::Authenticity]);
}

#[tokio::test]
async fn nothing_is_written_for_a_plan_that_is_not_ours() {
    let scene = scene(CONFIGURATION);
    let foreign = HmacKey::new([8; 32]);
    let bytes = scene.plan().await.saved.encode(&foreign).await.unwrap().bytes;
    let before = scene.store.list("").await.unwrap();
    let refused = scene.apply_saved(&bytes, "run").await.unwrap();
    assert!(refused.applied.is_none());
    assert_eq!(rejecting(&refused.verdicts), [Stage::Authenticity]);
    assert_eq!(scene.store.list("").await.unwrap(), before);
}

#[tokio::test]
async fn a_plan_expires() {
    let scene = scene(CONFIGURATION);
    let bytes = scene.saved().await;
    scene.clock.advance(engine::saved_plan::DEFAULT_EXPIRY);
    let refused = scene.apply_saved(&bytes, "run").await.unwrap();
    assert_eq!(rejecting(&refused.verdicts), [Stage::Authenticity]);
}

#[tokio::test]
async fn of_two_plans_of_one_instance_the_later_is_stale() {
    let scene = scene(CONFIGURATION);
    let (one, two) = (scene.saved().await, scene.saved().await);
    scene.apply_saved(&one, "one").await.unwrap();
    let refused = scene.apply_saved(&two, "two").await.unwrap();
    assert!(refused.applied.is_none());
    assert!(rejecting(&refused.verdicts).contains(&Stage::Records));
    let header = scene.workplace.estate.read_header().await.unwrap().unwrap();
    assert!(header.under_way.is_empty(), "a rejected transaction is still under way");
}

#[tokio::test]
async fn a_plan_in_memory_is_applied_without_having_been_written_down() {
    let scene = scene(CONFIGURATION);
    let plan = Box::new(scene.plan().await.saved);
    let outcome = scene.apply(PlanToApply::InMemory { plan, paused: false }, "run").await.unwrap();
    assert_eq!(outcome.applied.unwrap().ending, engine::Ending::Done);
    assert_eq!(scene.keys("default/j/").await, 1);
}

#[tokio::test]
async fn an_apply_costs_few_writes_for_each_change_and_no_reads_for_what_stays() {
    const COUNT: u64 = 60;
    let configuration = |last: &str| {
        format!(
            "resource \"terraform_data\" \"many\" {{\n  count = {COUNT}\n  input = count.index < {} ? \"first\" : \
             {last:?}\n}}\noutput \"all\" {{\n  value = terraform_data.many[*].output\n}}\n",
            COUNT - 1
        )
    };
    let scene = scene(&configuration("first"));
    let bytes = scene.saved().await;
    scene.store.reset();
    scene.apply_saved(&bytes, "create").await.unwrap();
    let counts = scene.store.reset();
    assert!(counts.writes() <= 3 * COUNT + 1 + 10, "{counts}");

    let scene = scene.configured(&configuration("second"));
    let bytes = scene.saved().await;
    scene.store.reset();
    let applied = scene.apply_saved(&bytes, "update").await.unwrap();
    assert_eq!(applied.applied.unwrap().summary.change, 1);
    let counts = scene.store.reset();
    assert!(counts.writes() <= 3 + 1 + 10, "{counts}");
    // All records at once to verify, the list of old transactions to sweep; the estate, the transaction and the one
    // that changes by themselves.
    assert_eq!((counts.of(Method::GetAll), counts.of(Method::List)), (1, 1), "{counts}");
    assert!(counts.of(Method::Get) <= 10, "{counts}");
}

#[tokio::test]
async fn state_elsewhere_is_refused_before_anything_is_written() {
    let scene = scene("terraform {\n  backend \"s3\" {}\n}\n");
    let (source, _) = source::from_directory(&*scene.files, Modules::All);
    let refused = runs::plan::plan(&scene.workplace, to_plan(source)).await;
    assert!(matches!(refused, Err(RunError::ExistingState(_))));
    assert_eq!(scene.keys("").await, 0);
}
