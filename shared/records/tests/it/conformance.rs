//! The conformance suite against every store and layer.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use records::conformance::{Report, artifacts, records};
use records::testing::{Answer, ObservedStore};
use records::{
    ArtifactStore, BulkRead, CountingStore, DirectoryArtifacts, Entry, Key, MemoryArtifacts,
    MemoryStore, Opening, Record, RecordStore, StoreError, Version,
};

use crate::created;

#[track_caller]
fn assert_sound(report: &Report) {
    assert!(!report.findings.is_empty());
    assert_eq!(report.violations().count(), 0, "\n{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn records_in_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".plumb");
    assert_sound(
        &records(|| async { Arc::new(created(&root).await) as Arc<dyn RecordStore> }).await,
    );
    let left: Vec<_> = std::fs::read_dir(root.join("staging")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn records_in_memory() {
    assert_sound(&records(|| async { Arc::new(MemoryStore::new()) as Arc<dyn RecordStore> }).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn records_below_every_layer() {
    let store = || async {
        let below: Arc<dyn RecordStore> = Arc::new(MemoryStore::new());
        let observed = ObservedStore::new(CountingStore::new(below), |_: &_| Answer::Deliver);
        Arc::new(observed) as Arc<dyn RecordStore>
    };
    assert_sound(&records(store).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn artifacts_in_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let store = || async {
        let store = DirectoryArtifacts::open(folder.path(), Opening::Create).await.unwrap();
        Arc::new(store) as Arc<dyn ArtifactStore>
    };
    assert_sound(&artifacts(store).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn artifacts_in_memory_and_below_every_layer() {
    let store = || async { Arc::new(MemoryArtifacts::new()) as Arc<dyn ArtifactStore> };
    assert_sound(&artifacts(store).await);
    let store = || async {
        let below: Arc<dyn ArtifactStore> = Arc::new(MemoryArtifacts::new());
        let observed = ObservedStore::new(CountingStore::new(below), |_: &_| Answer::Deliver);
        Arc::new(observed) as Arc<dyn ArtifactStore>
    };
    assert_sound(&artifacts(store).await);
}

/// What a store must not be: it reads, compares and then writes whatever is there by then.
struct CheckThenAct {
    inner: MemoryStore,
}

impl CheckThenAct {
    async fn force(&self, key: &Key, body: Bytes, seen: &Version) -> Result<Version, StoreError> {
        let actual = self.inner.get(key).await?.map_or_else(Version::absent, |it| it.version);
        if actual != *seen {
            let (key, expected) = (key.clone(), seen.clone());
            return Err(StoreError::Conflict { key, expected, actual });
        }
        tokio::task::yield_now().await;
        loop {
            let now = self.inner.get(key).await?.map_or_else(Version::absent, |it| it.version);
            match self.inner.put_if_version(key, body.clone(), &now).await {
                Err(StoreError::Conflict { .. }) => {}
                done => return done,
            }
        }
    }
}

#[async_trait]
impl RecordStore for CheckThenAct {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.inner.get(key).await
    }
    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.force(key, body, expected).await
    }
    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.force(key, body, &Version::absent()).await
    }
    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.inner.delete(key, expected).await
    }
    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.inner.list(prefix).await
    }
    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.inner.get_all(prefix).await
    }
    fn location(&self) -> String {
        self.inner.location()
    }
    fn bulk_read(&self) -> BulkRead {
        self.inner.bulk_read()
    }
    fn max_body_size(&self) -> Option<u64> {
        None
    }
}

#[tokio::test]
async fn the_suite_convicts_a_store_that_checks_and_then_writes() {
    let store = || async {
        let store = CheckThenAct { inner: MemoryStore::new() };
        Arc::new(store) as Arc<dyn RecordStore>
    };
    let report = records(store).await;
    let violated: Vec<_> = report.violations().map(|(property, _)| property).collect();
    for property in ["one_winner_creates", "one_winner_updates", "no_lost_update"] {
        assert!(violated.contains(&property), "{property} passed:\n{report}");
    }
}
