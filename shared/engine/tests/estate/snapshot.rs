//! The snapshot: what reading an estate costs where the store reads bodies one by one.

use crate::support::{address, clock, estate_with, executing, instance};
use async_trait::async_trait;
use bytes::Bytes;
use engine::estate::Estate;
use engine::recorder::{Recorder, Step};
use engine::stages::check_snapshot;
use records::{
    ArtifactStore, BulkRead, CountingStore, Entry, Key, MemoryArtifacts, MemoryStore, Method,
    PutMode, Record, RecordStore, StoreError, Version,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;

/// Memory, with the costs of a bucket.
struct OneByOne(MemoryStore);

#[async_trait]
impl RecordStore for OneByOne {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.get(key).await
    }
    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.0.put_if_version(key, body, expected).await
    }
    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.0.put_if_absent(key, body).await
    }
    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.0.delete(key, expected).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.0.list(prefix).await
    }
    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.0.get_all(prefix).await
    }
    fn location(&self) -> String {
        self.0.location()
    }
    fn bulk_read(&self) -> BulkRead {
        BulkRead::OneByOne
    }
    fn max_body_size(&self) -> Option<u64> {
        None
    }
}

/// An estate whose trips to records and artifacts are counted.
struct Counted {
    records: Arc<CountingStore<OneByOne>>,
    artifacts: Arc<CountingStore<MemoryArtifacts>>,
}

impl Counted {
    fn new() -> Self {
        Self {
            records: Arc::new(CountingStore::new(OneByOne(MemoryStore::new()))),
            artifacts: Arc::new(CountingStore::new(MemoryArtifacts::new())),
        }
    }

    fn estate(&self, seed: u64) -> Estate {
        estate_with(self.records.clone(), clock(), seed).with_artifacts(self.artifacts.clone())
    }

    fn trips(&self) -> String {
        let records = self.records.reset();
        let artifacts = self.artifacts.reset();
        assert_eq!(records.of(Method::GetAll), 0);
        format!("{records}; {artifacts}")
    }
}

async fn apply(estate: &Estate, plan: &str, instances: impl IntoIterator<Item = usize>) {
    let run = executing(estate, plan).await;
    for number in instances {
        let address = address(&format!("test_thing.a[{number}]"));
        let instance = instance(&format!("{plan}-{number}"));
        run.recorder().write(&address, &instance, Step::Done).await.unwrap();
    }
    let outputs = BTreeMap::from([("o".into(), Value::string("kept"))]);
    run.recorder().write_outputs(&BTreeMap::new(), &outputs).await.unwrap();
    run.commit().await.unwrap();
}

/// What a plan asks: all records, and the estate again at its end.
async fn plan(estate: &Estate) -> engine::estate::EstateReading {
    let reading = estate.read().await.unwrap();
    let verdicts = check_snapshot(estate, &reading).await;
    assert_eq!(verdicts.len(), 1, "{verdicts:?}");
    reading
}

#[tokio::test]
async fn an_unchanged_estate_is_planned_with_a_list_and_three_reads() {
    let counted = Counted::new();
    apply(&counted.estate(1), "p1", 0..100).await;
    counted.trips();
    let reading = plan(&counted.estate(2)).await;
    assert_eq!(reading.state.instances.len(), 100);
    // The third read is the artifact's.
    assert_eq!(counted.trips(), "get 2, list 1; get 1");
}

#[tokio::test]
async fn what_others_changed_is_read_and_nothing_else() {
    let counted = Counted::new();
    apply(&counted.estate(1), "p1", 0..100).await;
    // Below a tenth: the snapshot is left as it is.
    counted.artifacts.reset();
    apply(&counted.estate(2), "p2", [3, 50, 99]).await;
    assert_eq!(counted.artifacts.counts().writes(), 0);
    counted.trips();
    let reading = plan(&counted.estate(3)).await;
    assert_eq!(counted.trips(), "get 5, list 1; get 1");
    let changed = &reading.state.instances[&address("test_thing.a[50]")];
    assert!(changed.same_objects(&instance("p2-50")));
}

#[tokio::test]
async fn a_snapshot_that_is_stale_by_more_than_a_tenth_is_written_anew() {
    let counted = Counted::new();
    apply(&counted.estate(1), "p1", 0..100).await;
    apply(&counted.estate(2), "p2", 0..8).await;
    counted.trips();
    // With the eight of the last apply, twelve are stale at the end of this one.
    apply(&counted.estate(3), "p3", 20..24).await;
    assert_eq!(counted.artifacts.counts().writes(), 1);
    counted.trips();
    plan(&counted.estate(4)).await;
    assert_eq!(counted.trips(), "get 2, list 1; get 1");
}

#[tokio::test]
async fn the_list_is_the_truth() {
    let counted = Counted::new();
    apply(&counted.estate(1), "p1", 0..20).await;
    let key = counted.estate(9).keys().snapshot().unwrap();
    let good = counted.artifacts.get(&key).await.unwrap().unwrap();
    let before = plan(&counted.estate(2)).await;
    // A record that is gone does not come back from the snapshot.
    let gone = counted.estate(9).keys().instance(&address("test_thing.a[7]")).unwrap();
    let version = counted.records.get(&gone).await.unwrap().unwrap().version;
    counted.records.delete(&gone, &version).await.unwrap();
    let after = plan(&counted.estate(3)).await;
    assert_eq!(after.state.instances.len(), before.state.instances.len() - 1);

    for content in [Bytes::new(), Bytes::from_static(b"nonsense"), good.slice(..good.len() - 9)] {
        counted.artifacts.put(&key, content, PutMode::Overwrite).await.unwrap();
        let reading = plan(&counted.estate(4)).await;
        assert_eq!(reading.state.instances, after.state.instances);
    }
    counted.artifacts.delete(&key).await.unwrap();
    assert_eq!(plan(&counted.estate(5)).await.state.instances, after.state.instances);
}

#[tokio::test]
async fn a_store_that_reads_in_bulk_keeps_none() {
    let artifacts = Arc::new(CountingStore::new(MemoryArtifacts::new()));
    let store = Arc::new(MemoryStore::new());
    let estate = estate_with(store, clock(), 1).with_artifacts(artifacts.clone());
    apply(&estate, "p1", 0..20).await;
    plan(&estate).await;
    assert_eq!(artifacts.counts().total(), 0);
}
