//! What plan and apply cost on S3, counted where requests arrive.

use crate::handlers::BuiltinOnly;
use crate::surroundings::{Counter, SetClock};
use crate::usual_requests::{to_apply, to_plan};
use async_trait::async_trait;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use engine::estate::Estate;
use engine::random::Random;
use engine::record::key::EstateName;
use engine::saved_plan::HmacKey;
use engine::transaction::Terms;
use engine::{Ending, Environment, Stop};
use language::files::{FileSystem, Memory};
use providers::builtin::BuiltinProvider;
use records::Opening;
use records::kubernetes::{ClusterAccess, ManagedCluster};
use runs::Workplace;
use runs::apply::PlanToApply;
use runs::plan::PlanOutcome;
use runs::project::Project;
use runs::source::{self, Modules};
use runs::stores::{Places, StoreSurroundings, Stores};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use test_servers::{BucketServer, Received};

/// More than one page of a list.
const INSTANCES: usize = 1100;
const OUTPUTS: usize = 2;
/// How many instances the configurations differ in.
const CHANGED: usize = 3;

pub(crate) struct Surroundings;

#[async_trait]
impl StoreSurroundings for Surroundings {
    async fn aws(&self, _: Option<&str>) -> SdkConfig {
        let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "secret", None, None, "test");
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .build()
    }

    fn cluster(&self, _: Option<&str>) -> ClusterAccess {
        ClusterAccess::InCluster { server: None }
    }

    fn provider_token(&self, _: &ManagedCluster) -> Option<String> {
        None
    }
}

/// A workplace as a process opens it, with the stores that a `plumb.toml` names.
pub(crate) async fn workplace(toml: &str, root: &Path, files: Arc<dyn FileSystem>) -> Workplace {
    let project = Project::parse(toml, []).unwrap();
    let name = EstateName::new("production").unwrap();
    let places = Places { root, beside: root };
    let stores =
        Stores::open(&project, &name, places, Opening::Create, &Surroundings).await.unwrap();
    let clock = Arc::new(SetClock::at(1_000_000));
    // No two processes make the same names.
    static PROCESSES: AtomicU64 = AtomicU64::new(1);
    let process = PROCESSES.fetch_add(1, Ordering::SeqCst);
    let random: Arc<dyn Random> = Arc::new(Counter::from(process << 32));
    let estate = Estate::open(stores.records, "", name, clock.clone(), random.clone()).unwrap();
    let environment = Environment {
        files,
        working_directory: PathBuf::from("/"),
        home_directory: None,
        clock,
        random: random.clone(),
        providers: Arc::new(BuiltinOnly(Arc::new(BuiltinProvider::new(random, None)))),
        hooks: Vec::new(),
        parallelism: 10,
        workspace: "default".into(),
    };
    Workplace {
        estate: estate.with_artifacts(stores.artifacts).with_journals(stores.journals),
        contract: stores.contract,
        environment,
        stop: Stop::new(),
        // However slow the machine, no heartbeat is among what is counted.
        terms: Terms { lease: 3600, ..Terms::default() },
        locked: BTreeMap::new(),
    }
}

pub(crate) fn files(configuration: &str) -> Arc<dyn FileSystem> {
    Arc::new([("main.tf", configuration)].into_iter().collect::<Memory>())
}

pub(crate) async fn plan(workplace: &Workplace) -> PlanOutcome {
    let (source, diagnostics) = source::from_directory(&*workplace.environment.files, Modules::All);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let outcome = runs::plan::plan(workplace, to_plan(source)).await.unwrap();
    assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
    outcome
}

/// An estate in the server's bucket, as a process finds it that starts now.
async fn estate(server: &BucketServer, generation: &str) -> Workplace {
    let toml = format!(
        "[store.s3]\nbucket = \"records\"\nbucket_owner = \"{}\"\nendpoint = \"{}\"\npath_style = true\n",
        BucketServer::OWNER,
        server.endpoint()
    );
    let configuration = format!(
        r#"
resource "terraform_data" "many" {{
  count = {INSTANCES}
  input = count.index < {CHANGED} ? "{generation}" : "same"
}}
output "changing" {{
  value = terraform_data.many[0].output
}}
output "staying" {{
  value = length(terraform_data.many)
}}
"#
    );
    workplace(&toml, Path::new("/"), files(&configuration)).await
}

/// Plans, saves the plan, and applies it as another process does.
async fn apply(server: &BucketServer, generation: &str) -> Costs {
    let key = HmacKey::new([7; 32]);
    let bytes = plan(&estate(server, generation).await).await.saved.encode(&key).await.unwrap();
    let workplace = estate(server, generation).await;
    server.take_received();
    let plan = PlanToApply::Saved { bytes: &bytes.bytes, verifier: &key };
    let outcome = runs::apply::apply(&workplace, to_apply(plan, generation)).await.unwrap();
    let applied = outcome.applied.unwrap_or_else(|| panic!("{:?}", outcome.verdicts));
    assert_eq!(applied.ending, Ending::Done, "{:?}", outcome.diagnostics);
    Costs::of(server)
}

/// Requests by what they are. Those that try another server than AWS for its honesty are in none.
#[derive(Debug, Default)]
struct Costs {
    lists: usize,
    /// Keys of objects that were read, below `records/production/` or `artifacts/production/`.
    reads: Vec<String>,
    /// The same of those that were written or removed.
    writes: Vec<String>,
    contract: BTreeSet<&'static str>,
}

impl Costs {
    fn of(server: &BucketServer) -> Costs {
        let mut costs = Costs::default();
        let is_probe = |received: &Received| received.key.contains("~probe/");
        for received in server.take_received().into_iter().filter(|it| !is_probe(it)) {
            let owner = received.headers.get("x-amz-expected-bucket-owner").map(String::as_str);
            assert_eq!(owner, Some(BucketServer::OWNER), "{received:?}");
            let key = received.key.replacen("/production", "", 1);
            match received.setting() {
                Some(setting) => {
                    assert!(costs.contract.insert(setting), "{setting} was read twice")
                }
                None if received.is_list() => costs.lists += 1,
                None if received.is_read() => costs.reads.push(key),
                None if received.is_write() => costs.writes.push(key),
                None => panic!("{received:?}"),
            }
        }
        costs.reads.sort();
        costs
    }

    fn of_instances(keys: &[String]) -> Vec<&String> {
        keys.iter().filter(|key| key.starts_with("records/r/i/")).collect()
    }
}

/// Pages of a list of the instances and outputs.
const PAGES: usize = (INSTANCES + OUTPUTS).div_ceil(1000);
const UNCHANGED: [&str; 3] = ["artifacts/snapshot", "records/estate", "records/estate"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_as_few_as_is_promised() {
    let server = BucketServer::start();

    // First contact: nothing is there; the estate is made, listed, and the contract asserted.
    let planned = plan(&estate(&server, "one").await).await;
    assert_eq!(planned.plan().changes.resources.len(), INSTANCES);
    let contact = Costs::of(&server);
    assert_eq!(contact.contract.len(), 5, "{contact:?}");
    assert_eq!(contact.writes, ["records/estate"], "{contact:?}");
    assert!(contact.lists <= 2 && contact.reads.len() <= 5, "{contact:?}");

    let made = apply(&server, "one").await;
    let limit = INSTANCES + 2 * INSTANCES + OUTPUTS + 10;
    assert!(made.writes.len() <= limit, "{} of {limit}", made.writes.len());

    // An unchanged estate: no request for a record, and the contract is not asked.
    let unchanged = plan(&estate(&server, "one").await).await;
    assert!(unchanged.plan().changes.is_empty());
    let cost = Costs::of(&server);
    assert_eq!(
        (cost.lists, &cost.reads[..]),
        (PAGES, &UNCHANGED.map(String::from)[..]),
        "{cost:?}"
    );
    assert!(cost.writes.is_empty() && cost.contract.is_empty(), "{cost:?}");

    // An apply: k records, each claimed, and written before and after its provider call.
    let cost = apply(&server, "two").await;
    let limit = CHANGED + 2 * CHANGED + 1 + 10;
    assert!(cost.writes.len() <= limit, "{} of {limit}: {cost:?}", cost.writes.len());
    let changed: BTreeSet<&String> = Costs::of_instances(&cost.writes).into_iter().collect();
    assert_eq!(changed.len(), CHANGED, "{cost:?}");
    assert!(Costs::of_instances(&cost.reads).iter().all(|key| changed.contains(key)), "{cost:?}");
    assert_eq!(cost.contract.len(), 5, "{cost:?}");

    // After as many changes elsewhere: a read for each of them.
    let planned = plan(&estate(&server, "two").await).await;
    assert!(planned.plan().changes.is_empty());
    let cost = Costs::of(&server);
    assert_eq!(cost.lists, PAGES, "{cost:?}");
    let of_instances = Costs::of_instances(&cost.reads);
    assert_eq!(of_instances.len(), CHANGED, "{cost:?}");
    // The output that changed is a record too.
    assert_eq!(cost.reads.len(), UNCHANGED.len() + CHANGED + 1, "{cost:?}");
    assert!(cost.writes.is_empty(), "{cost:?}");
}
