//! Results that outgrow what one Secret holds.

use crate::requests::{files, plan, workplace};
use crate::usual_requests::to_apply;
use engine::Ending;
use runs::Workplace;
use runs::apply::{ApplyOutcome, PlanToApply};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use test_servers::ClusterServer;

/// What is made of an id that is not known before the apply, and cannot be packed: three megabytes of it.
const LARGE: &str = r#"
resource "terraform_data" "small" {
  input = "GENERATION"
}
resource "terraform_data" "large" {
  input = join("", flatten([
    for page in range(24) : [
      for line in range(1000) : sha256("${terraform_data.small.id}-${page}-${line}")
    ]
  ]))
}
"#;

async fn estate(server: &ClusterServer, root: &Path, configuration: &str) -> Workplace {
    let toml = format!(
        "[store.kubernetes]\nnamespace = \"team\"\nkubeconfig = {:?}\nallow_insecure = [\"tls_verification\"]\n\
         [artifacts.dir]\npath = \"artifacts\"\n",
        server.kubeconfig()
    );
    workplace(&toml, root, files(configuration)).await
}

async fn apply(workplace: &Workplace, run: &str) -> ApplyOutcome {
    let plan = Box::new(plan(workplace).await.saved);
    let plan = PlanToApply::InMemory { plan, paused: false };
    runs::apply::apply(workplace, to_apply(plan, run)).await.unwrap()
}

#[track_caller]
fn assert_done(outcome: &ApplyOutcome) {
    let applied = outcome.applied.as_ref().unwrap_or_else(|| panic!("{:?}", outcome.verdicts));
    assert_eq!(applied.ending, Ending::Done, "{:?}", outcome.diagnostics);
    assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
}

fn parts(server: &ClusterServer) -> usize {
    let secrets = server.world.secrets("team");
    secrets.iter().filter(|secret| secret["type"] == "plumbline.dev/part").count()
}

fn keys(server: &ClusterServer) -> Vec<String> {
    let key = |secret: &Value| {
        secret["metadata"]["annotations"]["plumbline.dev/key"].as_str().map(str::to_owned)
    };
    server.world.secrets("team").iter().filter_map(key).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_is_too_large_is_kept_in_parts_and_can_be_destroyed() {
    let server = Arc::new(ClusterServer::start());
    let folder = tempfile::tempdir().unwrap();
    let one = LARGE.replace("GENERATION", "one");

    assert_done(&apply(&estate(&server, folder.path(), &one).await, "first").await);
    assert!(parts(&server) > 0, "it was not too large");
    let again = plan(&estate(&server, folder.path(), &one).await).await;
    assert!(again.plan().changes.is_empty(), "something was lost");
    // What was done is told beside the records, where nothing lists it with them.
    assert!(keys(&server).iter().all(|key| !key.contains("/j/")), "{:?}", keys(&server));
    let estate_now = estate(&server, folder.path(), &one).await.estate;
    let history = estate_now.history().await.unwrap();
    assert_eq!(history.iter().map(|run| run.attempts.len()).collect::<Vec<_>>(), [1]);

    // A change would need room for what comes back: it is refused before it begins, and nothing is claimed.
    let changed = LARGE.replace("sha256", "sha1").replace("GENERATION", "one");
    let refused = estate(&server, folder.path(), &changed).await;
    let saved = Box::new(plan(&refused).await.saved);
    let request = to_apply(PlanToApply::InMemory { plan: saved, paused: false }, "second");
    let error = runs::apply::apply(&refused, request).await.unwrap_err().to_string();
    assert!(error.contains("the store holds at most"), "{error}");

    // Nothing comes back from what only goes.
    let gone = "resource \"terraform_data\" \"small\" {\n  input = \"one\"\n}\n";
    assert_done(&apply(&estate(&server, folder.path(), gone).await, "third").await);
    assert_eq!(parts(&server), 0);
}
