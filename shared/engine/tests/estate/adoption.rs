//! What a person decides about results that could not be recorded and creates in doubt.

use crate::support::{NOW, TestClock, address, clock, estate_with, object};
use engine::estate::{AdoptionError, Estate};
use engine::identifiers::{Principal, RunId};
use engine::record::body::Decided;
use engine::transaction::Terms;
use records::{Key, MemoryStore, RecordStore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use values::address::ResourceInstance;

struct Scene {
    store: Arc<MemoryStore>,
    clock: Arc<TestClock>,
    estate: Estate,
    by: Principal,
}

fn scene() -> Scene {
    let store = Arc::new(MemoryStore::new());
    let clock = clock();
    let estate = estate_with(store.clone(), clock.clone(), 1);
    Scene { store, clock, estate, by: Principal::from_stored("grace") }
}

fn body(id: &str, run: &str) -> Value {
    json!({
        "format": 1, "address": "test_thing.a", "kind": "live", "revision": id, "write_id": run,
        "written_at": 1, "written_by": { "transaction": "p", "run": run, "principal": "ada" },
        "object": {
            "provider": "provider[\"registry.terraform.io/hashicorp/test\"]", "schema_version": 3,
            "values": { "id": id }, "sensitive_paths": [], "private": "", "dependencies": [],
            "create_before_destroy": false, "prevent_destroy": false, "status": "ready"
        }
    })
}

impl Scene {
    async fn put(&self, key: Key, body: &Value) {
        self.store.put_if_absent(&key, body.to_string().into_bytes().into()).await.unwrap();
    }
    async fn record(&self, body: &Value) {
        self.put(self.estate.keys().instance(&address("test_thing.a")).unwrap(), body).await;
    }
    async fn stray(&self, id: &str, run: &str) {
        let run_id = RunId::from_stored(run);
        let key = self.estate.keys().stray(&address("test_thing.a"), &run_id).unwrap();
        self.put(key, &body(id, run)).await;
    }
    async fn doubt(&self) {
        self.doubt_since(1).await;
    }
    async fn doubt_since(&self, since: i64) {
        self.record(&json!({
            "format": 1, "address": "test_thing.a", "kind": "shell", "revision": "", "write_id": "w",
            "written_at": 1, "written_by": { "run": "r0", "principal": "ada" },
            "doubt": { "transaction": "p", "object": "current", "since": since }
        }))
        .await;
    }
    async fn dismiss(&self, address: &ResourceInstance) -> Result<usize, AdoptionError> {
        self.estate.dismiss(address, None, &self.by, &Terms::default()).await
    }
    async fn values(&self) -> Option<String> {
        let reading = self.estate.read().await.unwrap();
        let state = reading.state.instances.get(&address("test_thing.a"))?;
        state.current.as_ref().map(|object| object.attributes.to_string())
    }
    async fn decisions(&self) -> Vec<Decided> {
        let runs = self.estate.history().await.unwrap();
        runs.into_iter().filter_map(|run| run.decision).map(|decision| decision.decision).collect()
    }
}

#[tokio::test]
async fn a_stray_becomes_the_record_and_the_journal_says_who_decided() {
    let scene = scene();
    let a = address("test_thing.a");
    scene.record(&body("old", "r0")).await;
    scene.stray("new", "r1").await;
    let before = scene.estate.read().await.unwrap().version_and_revision(&a).1;
    let adopted = scene.estate.adopt_stray(&a, None, &scene.by).await.unwrap();
    assert_eq!(adopted.replaced.unwrap().run.as_str(), "r0");
    let reading = scene.estate.read().await.unwrap();
    assert!(reading.strays.is_empty());
    assert_ne!(reading.version_and_revision(&a).1, before, "plans from before are stale");
    assert_eq!(reading.records[&a].written_by.principal, scene.by);
    assert!(scene.values().await.unwrap().contains("new"));
    assert_eq!(scene.decisions().await, [Decided::AdoptStray(RunId::from_stored("r1"))]);
    let again = scene.estate.adopt_stray(&a, None, &scene.by).await;
    assert!(matches!(again, Err(AdoptionError::NothingOpen { .. })), "{again:?}");
}

#[tokio::test]
async fn of_several_strays_one_has_to_be_named() {
    let scene = scene();
    let a = address("test_thing.a");
    scene.stray("one", "r1").await;
    scene.stray("two", "r2").await;
    let several = scene.estate.adopt_stray(&a, None, &scene.by).await;
    assert!(matches!(several, Err(AdoptionError::SeveralStrays { .. })), "{several:?}");
    let run = RunId::from_stored("r2");
    scene.estate.adopt_stray(&a, Some(&run), &scene.by).await.unwrap();
    assert!(scene.values().await.unwrap().contains("two"));
    assert_eq!(scene.dismiss(&a).await.unwrap(), 1);
    assert!(scene.estate.read().await.unwrap().strays.is_empty());
}

#[tokio::test]
async fn a_doubt_is_settled_by_an_object_or_by_its_own_result_or_dismissed() {
    let a = address("test_thing.a");
    let adopted = scene();
    adopted.doubt().await;
    let unnamed = adopted.estate.adopt_stray(&a, None, &adopted.by).await;
    assert!(matches!(unnamed, Err(AdoptionError::IdentityNeeded { .. })), "{unnamed:?}");
    adopted.estate.adopt_object(&a, "i-1", &object("i-1"), &adopted.by).await.unwrap();
    let reading = adopted.estate.read().await.unwrap();
    assert_eq!(reading.records[&a].doubt, None);
    assert!(adopted.values().await.unwrap().contains("i-1"));
    let occupied = adopted.estate.adopt_object(&a, "i-2", &object("i-2"), &adopted.by).await;
    assert!(matches!(occupied, Err(AdoptionError::NothingOpen { .. })), "{occupied:?}");

    let by_result = scene();
    by_result.doubt().await;
    by_result.stray("i-1", "r1").await;
    by_result.estate.adopt_stray(&a, None, &by_result.by).await.unwrap();
    assert_eq!(by_result.estate.read().await.unwrap().records[&a].doubt, None);

    let dismissed = scene();
    dismissed.doubt().await;
    assert_eq!(dismissed.dismiss(&a).await.unwrap(), 1);
    assert_eq!(dismissed.estate.read().await.unwrap().records[&a].doubt, None);
    assert_eq!(dismissed.decisions().await, [Decided::DismissDoubt]);
}

#[tokio::test]
async fn a_doubt_is_not_dismissed_while_its_create_may_still_come_to_pass() {
    let scene = scene();
    let a = address("test_thing.a");
    scene.doubt_since(NOW).await;
    let Terms { margin, skew, .. } = Terms::default();
    for seconds in [0, margin, margin + skew] {
        scene.clock.0.store(NOW + seconds, Ordering::Relaxed);
        let refused = scene.dismiss(&a).await.unwrap_err();
        let AdoptionError::TooEarly { until, .. } = &refused else { panic!("{refused}") };
        assert_eq!(*until, NOW + margin + skew + 1);
        assert!(refused.to_string().contains("until 2023-11-14T22:13:56Z"), "{refused}");
    }
    assert!(scene.decisions().await.is_empty(), "nothing is noted that is not done");
    scene.clock.0.store(NOW + margin + skew + 1, Ordering::Relaxed);
    assert_eq!(scene.dismiss(&a).await.unwrap(), 1);
    assert_eq!(scene.decisions().await, [Decided::DismissDoubt]);
}

#[tokio::test]
async fn what_a_transaction_has_claimed_is_left_alone() {
    let scene = scene();
    let a = address("test_thing.a");
    let mut claimed = body("old", "r0");
    claimed["claim"] = json!({
        "transaction": "p", "attempt": 1, "object": "current", "action": "update", "state": "claimed"
    });
    scene.record(&claimed).await;
    scene.stray("new", "r1").await;
    let key =
        scene.estate.keys().transaction(&engine::identifiers::PlanId::from_stored("p")).unwrap();
    scene
        .put(key, &json!({
            "format": 1, "write_id": "w", "plan": "p", "plan_digest": "d", "run": "r9", "principal": "ada",
            "attempt": 1, "lease_until": 1, "phase": "executing", "expires": 9_999_999_999_i64
        }))
        .await;
    let refused = scene.estate.adopt_stray(&a, None, &scene.by).await;
    assert!(matches!(refused, Err(AdoptionError::Claimed { .. })), "{refused:?}");
    let refused = scene.dismiss(&a).await;
    assert!(matches!(refused, Err(AdoptionError::Claimed { .. })), "{refused:?}");
    assert!(scene.decisions().await.is_empty(), "nothing is noted that is not done");
}

#[tokio::test]
async fn a_kept_file_becomes_the_record_where_it_belongs() {
    let scene = scene();
    let (a, b) = (address("test_thing.a"), address("test_thing.b"));
    let kept = body("kept", "r1").to_string();
    let other = scene.estate.adopt_file(&b, "kept.json", kept.as_bytes(), &scene.by).await;
    assert!(matches!(other, Err(AdoptionError::OtherFile { .. })), "{other:?}");
    let damaged = scene.estate.adopt_file(&a, "kept.json", b"{}", &scene.by).await;
    assert!(matches!(damaged, Err(AdoptionError::OtherFile { .. })), "{damaged:?}");
    scene.estate.adopt_file(&a, "kept.json", kept.as_bytes(), &scene.by).await.unwrap();
    assert!(scene.values().await.unwrap().contains("kept"));
}
