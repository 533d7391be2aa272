use crate::support::{
    address, call, claiming, clock, estate, estate_with, executing, executing_from, instance,
    object, request, undecided,
};
use engine::estate::Spill;
use engine::object::{DeposedKey, ObjectStatus};
use engine::record::body::{
    ClaimedAction, JournalBody, JournalOutcome, ProvisionersStanding, decode,
};
use engine::recorder::{Call, OutputsWritten, Recorder, Step};
use engine::state::InstanceState;
use engine::transaction::Executing;
use records::testing::{Answer, ObservedStore};
use records::{CountingStore, Key, MemoryStore, RecordStore};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use values::Value;

#[tokio::test]
async fn an_apply_costs_k_plus_two_for_each_call_plus_outputs_plus_ten_writes_at_most() {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let estate = estate(store.clone());
    let names: Vec<String> = (0..20).map(|k| format!("test_thing.a[{k}]")).collect();
    let outputs: BTreeMap<Arc<str>, Value> =
        (0..3_i64).map(|n| (format!("o{n}").into(), Value::number(n))).collect();
    let creates: Vec<_> = names.iter().map(|n| (n.as_str(), ClaimedAction::Create)).collect();
    let run = claiming(&estate, "p1", &creates).await;
    for name in &names {
        let a = address(name);
        run.recorder().begin(&a, &call(ClaimedAction::Create)).await.unwrap();
        run.recorder().write(&a, &instance("i"), Step::Done).await.unwrap();
    }
    run.recorder().write_outputs(&BTreeMap::new(), &outputs).await.unwrap();
    run.commit().await.unwrap();
    assert!(store.counts().writes() <= 20 + 2 * 20 + 3 + 10, "{}", store.counts());

    // A replacement has two calls and five writes, whichever comes first.
    store.reset();
    let replace = [
        (&*names[0], ClaimedAction::CreateThenDelete),
        (&*names[1], ClaimedAction::DeleteThenCreate),
    ];
    let run = claiming(&estate, "p2", &replace).await;
    let (first, second) = (address(&names[0]), address(&names[1]));
    let key = DeposedKey::new([0, 0, 0, 1]);
    let create = Call { put_aside: Some(key.clone()), ..call(ClaimedAction::Create) };
    run.recorder().begin(&first, &create).await.unwrap();
    let both = InstanceState { deposed: [(key.clone(), object("i"))].into(), ..instance("j") };
    run.recorder().write(&first, &both, Step::Between).await.unwrap();
    let delete = Call::new(Some(&key).into(), ClaimedAction::Delete);
    run.recorder().begin(&first, &delete).await.unwrap();
    run.recorder().write(&first, &instance("j"), Step::Done).await.unwrap();
    run.recorder().begin(&second, &call(ClaimedAction::Delete)).await.unwrap();
    run.recorder().write(&second, &InstanceState::default(), Step::Between).await.unwrap();
    run.recorder().begin(&second, &call(ClaimedAction::Create)).await.unwrap();
    run.recorder().write(&second, &instance("j"), Step::Done).await.unwrap();
    let before = store.counts().writes();
    assert_eq!(before, 3 + 2 * 5);
    run.recorder().write_outputs(&BTreeMap::new(), &outputs).await.unwrap();
    run.commit().await.unwrap();
    assert_eq!(store.counts().writes() - before, 3, "outputs that stay are not written");
    let reading = estate.read().await.unwrap();
    assert!(reading.state.instances[&first].same_objects(&instance("j")));
    assert!(reading.state.instances[&second].same_objects(&instance("j")));
}

#[tokio::test]
async fn a_call_that_stays_within_the_record_is_announced_only_where_more_hangs_on_it() {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let estate = estate(store.clone());
    let within = Call { reaches_outside: false, ..call(ClaimedAction::Create) };
    let put_aside = Some(DeposedKey::new([0, 0, 0, 1]));
    let provisioners = Some(ProvisionersStanding::Pending);
    for (plan, call, announced) in [
        ("p1", within.clone(), 0),
        ("p2", Call { put_aside, ..within.clone() }, 1),
        ("p3", Call { provisioners, ..within.clone() }, 1),
        ("p4", Call { reaches_outside: true, ..within }, 1),
    ] {
        let name = format!("test_thing.{plan}");
        let run = claiming(&estate, plan, &[(&name, ClaimedAction::Create)]).await;
        let before = store.counts().writes();
        run.recorder().begin(&address(&name), &call).await.unwrap();
        assert_eq!(store.counts().writes() - before, announced, "{plan}");
        run.recorder().write(&address(&name), &instance("i"), Step::Done).await.unwrap();
        assert_eq!(store.counts().writes() - before, announced + 1, "{plan}");
    }
}

#[tokio::test]
async fn the_revision_changes_with_the_objects_and_stays_with_a_refresh() {
    let estate = estate(Arc::new(MemoryStore::new()));
    let a = address("test_thing.a");
    let run = executing(&estate, "p1").await;
    let recorder = run.recorder();
    let revision = async || estate.read().await.unwrap().version_and_revision(&a);
    recorder.write(&a, &instance("i-1"), Step::Done).await.unwrap();
    let first = revision().await;
    recorder.refresh(&a, &instance("i-1, grown")).await.unwrap();
    let refreshed = revision().await;
    assert_ne!(first.0, refreshed.0);
    assert_eq!(first.1, refreshed.1);
    let mut deposed = instance("i-2");
    deposed.deposed.insert(DeposedKey::new([1, 2, 3, 4]), object("i-1"));
    recorder.write(&a, &deposed, Step::Done).await.unwrap();
    let second = revision().await;
    assert_ne!(first.1, second.1);
    recorder.write(&a, &deposed, Step::Done).await.unwrap();
    assert_eq!(revision().await, second);
    assert_eq!(recorder.version(&a), second.0);
}

#[tokio::test]
async fn what_a_refresh_records_first_stays_recorded() {
    let estate = estate(Arc::new(MemoryStore::new()));
    let a = address("data.test_thing.a");
    let run = executing(&estate, "p1").await;
    run.recorder().refresh(&a, &instance("i-1")).await.unwrap();
    run.commit().await.unwrap();
    for (plan, id) in [("p2", "i-2"), ("p3", "i-3")] {
        let run = executing(&estate, plan).await;
        run.recorder().refresh(&a, &instance(id)).await.unwrap();
        run.commit().await.unwrap();
        let state = estate.read().await.unwrap().state;
        assert_eq!(state.instances[&a].current, instance(id).current);
    }
}

#[tokio::test]
async fn a_result_whose_record_was_lost_is_kept_beside_it() {
    let store = Arc::new(MemoryStore::new());
    let (ours, theirs) =
        (estate_with(store.clone(), clock(), 1), estate_with(store.clone(), clock(), 2));
    let a = address("test_thing.a");
    let reading = ours.read().await.unwrap();
    let run = executing_from(&ours, "p1", reading).await;
    let other = executing(&theirs, "p2").await;
    other.recorder().write(&a, &instance("theirs"), Step::Done).await.unwrap();

    let recorder = run.recorder();
    recorder.begin(&a, &call(ClaimedAction::Create)).await.unwrap();
    let error = recorder.write(&a, &instance("ours"), Step::Done).await.unwrap_err();
    assert!(error.detail.contains("run-p2 of ada"), "{}", error.detail);
    assert!(error.detail.contains("plumb adopt 'test_thing.a'"), "{}", error.detail);
    // A later result of the same run goes to the same place.
    recorder.write(&a, &instance("ours, later"), Step::Done).await.unwrap_err();
    // A refresh has nothing to add, and disturbs nothing.
    recorder.refresh(&a, &instance("ours, refreshed")).await.unwrap();

    let reading = ours.read().await.unwrap();
    assert!(reading.state.instances[&a].same_objects(&instance("theirs")));
    assert_eq!(reading.strays.len(), 1);
    assert_eq!(reading.strays[0].address, a);
    let stray = store.get(&reading.strays[0].key).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&stray.body).contains("ours, later"));

    run.commit().await.unwrap();
    let key = Key::new("state/prod/j/run-p1/1").unwrap();
    let journal = store.get(&key).await.unwrap().unwrap();
    let journal: JournalBody = decode(&key, &journal.body).unwrap();
    assert_eq!(journal.entries[0].outcome, JournalOutcome::Stray);
    assert_eq!(journal.entries[0].action, ["create"]);
}

#[tokio::test]
async fn a_refresh_gives_way_to_whoever_wrote_meanwhile() {
    let store = Arc::new(MemoryStore::new());
    let (ours, theirs) =
        (estate_with(store.clone(), clock(), 1), estate_with(store.clone(), clock(), 2));
    let a = address("test_thing.a");
    executing(&ours, "p0").await.recorder().write(&a, &instance("old"), Step::Done).await.unwrap();
    let run = executing(&ours, "p1").await;
    executing(&theirs, "p2")
        .await
        .recorder()
        .write(&a, &instance("theirs"), Step::Done)
        .await
        .unwrap();
    run.recorder().refresh(&a, &instance("old, refreshed")).await.unwrap();
    let reading = ours.read().await.unwrap();
    assert!(reading.state.instances[&a].same_objects(&instance("theirs")));
    assert!(reading.strays.is_empty());
}

#[tokio::test]
async fn answers_that_were_lost_are_read_back() {
    let store = ObservedStore::new(MemoryStore::new(), |_: &records::testing::Write| Answer::Lose);
    let estate = estate(Arc::new(store));
    let run = executing(&estate, "p1").await;
    run.recorder().write(&address("test_thing.a"), &instance("i-1"), Step::Done).await.unwrap();
    let outputs = BTreeMap::from([("o".into(), Value::number(1_i64))]);
    run.recorder().write_outputs(&BTreeMap::new(), &outputs).await.unwrap();
    let planned = estate.read().await.unwrap().state.outputs.clone();
    run.recorder().write_outputs(&planned, &BTreeMap::new()).await.unwrap();
    run.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    assert_eq!(reading.state.instances.len(), 1);
    assert_eq!(reading.state.serial, 2);
    assert!(reading.strays.is_empty() && reading.state.outputs.is_empty());
}

#[tokio::test]
async fn what_is_too_large_for_the_store_is_kept_in_part() {
    let estate = estate(Arc::new(MemoryStore::with_max_body_size(2000)));
    let run = executing(&estate, "p1").await;
    let a = address("test_thing.a");
    let mut large = instance("i-1");
    large.current.as_mut().unwrap().attributes =
        serde_json::json!({ "text": "x".repeat(4000) }).to_string().into();
    let error = run.recorder().write(&a, &large, Step::Done).await.unwrap_err();
    assert!(error.summary.contains("recorded in part"), "{}", error.summary);
    let reading = estate.read().await.unwrap();
    let kept = reading.state.instances[&a].current.clone().unwrap();
    assert_eq!(kept.status, ObjectStatus::Incomplete);
    assert_eq!(kept.identity, object("i-1").identity);
    assert_eq!(kept.private, object("i-1").private);
}

/// A store that goes away.
struct Away {
    inner: MemoryStore,
    away: AtomicBool,
}

#[async_trait::async_trait]
impl RecordStore for Away {
    async fn get(&self, key: &Key) -> Result<Option<records::Record>, records::StoreError> {
        self.check(key)?;
        self.inner.get(key).await
    }
    async fn put_if_version(
        &self,
        key: &Key,
        body: bytes::Bytes,
        expected: &records::Version,
    ) -> Result<records::Version, records::StoreError> {
        self.check(key)?;
        self.inner.put_if_version(key, body, expected).await
    }
    async fn put_if_absent(
        &self,
        key: &Key,
        body: bytes::Bytes,
    ) -> Result<records::Version, records::StoreError> {
        self.check(key)?;
        self.inner.put_if_absent(key, body).await
    }
    async fn delete(
        &self,
        key: &Key,
        expected: &records::Version,
    ) -> Result<(), records::StoreError> {
        self.check(key)?;
        self.inner.delete(key, expected).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<records::Entry>, records::StoreError> {
        self.inner.list(prefix).await
    }
    async fn get_all(
        &self,
        prefix: &str,
    ) -> Result<Vec<(Key, records::Record)>, records::StoreError> {
        self.inner.get_all(prefix).await
    }
    fn location(&self) -> String {
        self.inner.location()
    }
    fn bulk_read(&self) -> records::BulkRead {
        self.inner.bulk_read()
    }
    fn max_body_size(&self) -> Option<u64> {
        None
    }
}

impl Away {
    fn check(&self, key: &Key) -> Result<(), records::StoreError> {
        match self.away.load(Ordering::Relaxed) {
            true => Err(records::StoreError::Unanswered { key: key.clone(), source: None }),
            false => Ok(()),
        }
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<(String, Vec<u8>)>>);

impl Spill for Kept {
    fn keep(&self, key: &Key, body: &[u8]) -> std::io::Result<String> {
        self.0.lock().unwrap().push((key.to_string(), body.to_vec()));
        Ok("/tmp/kept.json".into())
    }
}

#[tokio::test]
async fn a_store_that_stays_away_spills_to_a_file() {
    let store = Arc::new(Away { inner: MemoryStore::new(), away: AtomicBool::new(false) });
    let estate = estate(store.clone());
    let reading = estate.read().await.unwrap();
    let begun = undecided(&estate, request("p1", "r1")).await;
    let kept = Arc::new(Kept::default());
    let run = begun.execute(reading, Some(kept.clone())).await.unwrap();
    store.away.store(true, Ordering::Relaxed);
    let a = address("test_thing.a");
    let error = run.recorder().write(&a, &instance("i-1"), Step::Done).await.unwrap_err();
    assert!(error.detail.contains("/tmp/kept.json"), "{}", error.detail);
    {
        let kept = kept.0.lock().unwrap();
        assert_eq!(kept[0].0, "state/prod/r/i/test_5fthing.a");
        assert!(String::from_utf8_lossy(&kept[0].1).contains("i-1"));
    }
    // It comes back: the next result is recorded in its place.
    store.away.store(false, Ordering::Relaxed);
    run.recorder().write(&a, &InstanceState::default(), Step::Done).await.unwrap();
    run.recorder().write(&a, &instance("i-2"), Step::Done).await.unwrap();
    assert_eq!(estate.read().await.unwrap().state.instances.len(), 1);
}

#[tokio::test]
async fn an_output_is_written_from_what_was_read_of_it() {
    let store = Arc::new(MemoryStore::new());
    let (ours, theirs) =
        (estate_with(store.clone(), clock(), 1), estate_with(store.clone(), clock(), 2));
    let (run, other) = (executing(&ours, "p1").await, executing(&theirs, "p2").await);
    let outputs = |n: i64| BTreeMap::from([(Arc::from("o"), Value::number(n))]);
    let write = async |of: &Executing, n| {
        of.recorder().write_outputs(&BTreeMap::new(), &outputs(n)).await.unwrap()
    };
    assert_eq!(write(&other, 1).await, OutputsWritten::Written);
    assert_eq!(write(&run, 2).await, OutputsWritten::OthersWereFirst);
    // It looks at all records once more, and knows both what the output is by now and what it should be.
    let now = run.recorder().records_now().await.unwrap();
    assert!(!now.alone);
    assert_eq!(write(&run, 2).await, OutputsWritten::Written);
    assert_eq!(write(&run, 2).await, OutputsWritten::Unchanged);
    let reading = ours.read().await.unwrap();
    assert_eq!(reading.state.outputs["o"].value, Value::number(2_i64));
    let ephemeral = Value::string("t").with_marks(values::Marks::EPHEMERAL);
    let outputs = BTreeMap::from([(Arc::from("o"), ephemeral)]);
    assert!(run.recorder().write_outputs(&BTreeMap::new(), &outputs).await.is_err());
}

#[tokio::test]
async fn an_output_that_a_run_did_not_change_is_left_to_whoever_changed_it_since() {
    let estate = estate(Arc::new(MemoryStore::new()));
    let outputs = |a: i64, b: i64| {
        BTreeMap::from([(Arc::from("a"), Value::number(a)), (Arc::from("b"), Value::number(b))])
    };
    let run = executing(&estate, "p0").await;
    run.recorder().write_outputs(&BTreeMap::new(), &outputs(1, 1)).await.unwrap();
    run.commit().await.unwrap();
    // Both plans are made now, and each changes one.
    let planned = estate.read().await.unwrap().state.outputs.clone();
    for (plan, evaluated) in [("p1", outputs(2, 1)), ("p2", outputs(1, 2))] {
        let run = executing(&estate, plan).await;
        run.recorder().write_outputs(&planned, &evaluated).await.unwrap();
        run.commit().await.unwrap();
    }
    let now = estate.read().await.unwrap().state.outputs.clone();
    let values: Vec<_> = now.values().map(|output| output.value.clone()).collect();
    assert_eq!(values, [Value::number(2_i64), Value::number(2_i64)]);
}
