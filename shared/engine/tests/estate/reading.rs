use crate::support::{DAY, NOW, address, clock, estate, estate_with, executing, instance};
use engine::estate::EstateError;
use engine::record::body::{BodyError, RecordKind};
use engine::recorder::{Recorder, Step};
use engine::state::InstanceState;
use records::{CountingStore, Key, MemoryStore, Method, RecordStore};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use values::Value;

#[tokio::test]
async fn an_estate_without_records_has_no_lineage_until_first_contact() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate(store.clone());
    let reading = estate.read().await.unwrap();
    assert!(reading.header.is_none() && reading.state.is_empty());
    assert_eq!(reading.state.lineage, None);
    let created = estate.create_if_absent().await.unwrap();
    // Another first contact finds what the first has made.
    let other = estate_with(store, clock(), 9).create_if_absent().await.unwrap();
    assert_eq!(created.lineage, other.lineage);
    assert_eq!((other.serial, other.under_way.len()), (0, 0));
    let reading = estate.read().await.unwrap();
    assert_eq!(reading.state.lineage, Some(created.lineage));
}

#[tokio::test]
async fn what_is_written_is_read_in_two_requests() {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let estate = estate(store.clone());
    let run = executing(&estate, "p1").await;
    let long = address(&format!("test_thing.{}", "x".repeat(300)));
    run.recorder()
        .write(&address("test_thing.a[\"K\"]"), &instance("i-1"), Step::Done)
        .await
        .unwrap();
    run.recorder().write(&long, &instance("i-2"), Step::Done).await.unwrap();
    let secret = Value::string("s").sensitive();
    let outputs = BTreeMap::from([("o".into(), secret.clone())]);
    run.recorder().write_outputs(&BTreeMap::new(), &outputs).await.unwrap();
    run.commit().await.unwrap();
    store.reset();
    let reading = estate.read().await.unwrap();
    assert_eq!(store.counts().of(Method::Get), 1);
    assert_eq!(store.counts().of(Method::GetAll), 1);
    assert_eq!(store.counts().total(), 2);
    let state = &reading.state;
    assert_eq!(state.serial, 2);
    assert!(state.instances[&address("test_thing.a[\"K\"]")].same_objects(&instance("i-1")));
    assert!(state.instances[&long].same_objects(&instance("i-2")));
    assert!(!state.instances[&long].revision.0.is_empty());
    assert_eq!(state.outputs["o"].value, secret);
}

#[tokio::test]
async fn tombstones_count_as_absent_and_are_swept_by_a_later_transaction() {
    let store = Arc::new(MemoryStore::new());
    let clock = clock();
    let estate = estate_with(store.clone(), clock.clone(), 1);
    let a = address("test_thing.a");
    let run = executing(&estate, "p1").await;
    run.recorder().write(&a, &instance("i-1"), Step::Done).await.unwrap();
    run.recorder().write(&a, &InstanceState::default(), Step::Done).await.unwrap();
    run.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    assert!(reading.state.instances.is_empty());
    assert_eq!(reading.records[&a].kind, RecordKind::Tombstone);
    let (version, revision) = reading.version_and_revision(&a);
    assert!(!version.is_absent() && revision.0.is_empty());

    executing(&estate, "p2").await.commit().await.unwrap();
    assert_eq!(estate.read().await.unwrap().records.len(), 1, "a living plan may know it");
    clock.0.store(NOW + DAY + 1, Ordering::Relaxed);
    executing(&estate, "p3").await.commit().await.unwrap();
    assert!(estate.read().await.unwrap().records.is_empty());
}

#[tokio::test]
async fn a_move_that_died_half_way_shows_the_object_once() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate(store.clone());
    let (a, b) = (address("test_thing.a"), address("test_thing.b"));
    let run = executing(&estate, "p1").await;
    run.recorder().write(&a, &instance("i-1"), Step::Done).await.unwrap();
    let key = estate.keys().instance(&a).unwrap();
    let source = store.get(&key).await.unwrap().unwrap();
    run.recorder().write_moved(&a, &b, &instance("i-1"), Step::Done).await.unwrap();
    // As if the second write had never happened.
    let tombstone = store.get(&key).await.unwrap().unwrap();
    store.put_if_version(&key, source.body, &tombstone.version).await.unwrap();
    let reading = estate.read().await.unwrap();
    assert_eq!(reading.state.instances.keys().collect::<Vec<_>>(), [&b]);
    assert!(reading.version_and_revision(&a).1.0.is_empty());
    // The target is deleted, and the process dies again: the source does not come back.
    let next = executing(&estate, "p2").await;
    next.recorder().write(&b, &InstanceState::default(), Step::Done).await.unwrap();
    assert!(estate.read().await.unwrap().state.instances.is_empty());
    next.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    assert_eq!(reading.records[&a].kind, RecordKind::Tombstone);
    assert!(reading.state.instances.is_empty());
}

#[tokio::test]
async fn a_record_that_cannot_be_read_stops_the_reading() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate(store.clone());
    let run = executing(&estate, "p1").await;
    run.recorder().write(&address("test_thing.a"), &instance("i-1"), Step::Done).await.unwrap();
    let key = estate.keys().instance(&address("test_thing.a")).unwrap();
    let body = store.get(&key).await.unwrap().unwrap().body;

    let copied = estate.keys().instance(&address("test_thing.b")).unwrap();
    store.put_if_absent(&copied, body.clone()).await.unwrap();
    let error = estate.read().await.unwrap_err();
    assert!(error.to_string().contains("belongs to another key"), "{error}");
    let version = store.get(&copied).await.unwrap().unwrap().version;
    store.put_if_version(&copied, body.slice(..20), &version).await.unwrap();
    let error = estate.read().await.unwrap_err();
    assert!(matches!(error, EstateError::Body(BodyError::Damaged { .. })), "{error}");
    let version = store.get(&copied).await.unwrap().unwrap().version;
    store.delete(&copied, &version).await.unwrap();

    let odd = Key::new("state/prod/r/zz/x").unwrap();
    store.put_if_absent(&odd, body).await.unwrap();
    assert!(estate.read().await.unwrap_err().to_string().contains("state/prod/r/zz/x"));
}
