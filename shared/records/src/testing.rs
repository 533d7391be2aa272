//! A store to which a test can do what happens to real ones.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    ArtifactEntry, ArtifactStore, BulkRead, Entry, Hold, Key, Method, PutMode, Record, RecordStore,
    StoreError, Version,
};

/// A write that the store below has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Write {
    /// Writes answered so far, this one included: from 1, without gaps, in the order of the answers.
    pub number: u64,
    /// What was asked.
    pub method: Method,
    /// The key that was written.
    pub key: Key,
    /// Whether the write succeeded.
    pub succeeded: bool,
}

/// What becomes of a write's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The writer gets it.
    Deliver,
    /// The writer gets [`StoreError::Unanswered`].
    Lose,
    /// The writer waits forever; the test drops it, as if its process had been killed.
    Withhold,
}

/// A store of records or artifacts that shows each write to a function after it was done and before it is
/// answered. The function may end the process.
#[derive(Debug)]
pub struct ObservedStore<S, F> {
    inner: S,
    after_write: F,
    writes: AtomicU64,
}

impl<S, F: Fn(&Write) -> Answer + Send + Sync> ObservedStore<S, F> {
    /// Shows the writes of `inner` to `after_write`.
    pub fn new(inner: S, after_write: F) -> Self {
        Self { inner, after_write, writes: AtomicU64::new(0) }
    }

    /// The store below; what is written to it directly is not shown.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    async fn answer<T>(
        &self,
        method: Method,
        key: &Key,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        let write = Write { number, method, key: key.clone(), succeeded: result.is_ok() };
        match (self.after_write)(&write) {
            Answer::Deliver => result,
            Answer::Lose => Err(StoreError::Unanswered { key: write.key, source: None }),
            Answer::Withhold => std::future::pending().await,
        }
    }
}

#[async_trait]
impl<S, F> RecordStore for ObservedStore<S, F>
where
    S: RecordStore,
    F: Fn(&Write) -> Answer + Send + Sync,
{
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.inner.get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let result = self.inner.put_if_version(key, body, expected).await;
        self.answer(Method::PutIfVersion, key, result).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        let result = self.inner.put_if_absent(key, body).await;
        self.answer(Method::PutIfAbsent, key, result).await
    }

    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let result = self.inner.put_in_parts(key, body, expected).await;
        self.answer(Method::PutIfVersion, key, result).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        let result = self.inner.delete(key, expected).await;
        self.answer(Method::Delete, key, result).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.inner.list(prefix).await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.inner.get_all(prefix).await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        self.inner.try_hold(name).await
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.inner.clock_ahead()
    }

    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        self.inner.sweep_leftovers(before).await
    }

    fn location(&self) -> String {
        self.inner.location()
    }

    fn bulk_read(&self) -> BulkRead {
        self.inner.bulk_read()
    }

    fn max_body_size(&self) -> Option<u64> {
        self.inner.max_body_size()
    }

    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        self.inner.check_claim_size(key, body)
    }
}

#[async_trait]
impl<S, F> ArtifactStore for ObservedStore<S, F>
where
    S: ArtifactStore,
    F: Fn(&Write) -> Answer + Send + Sync,
{
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        let result = self.inner.put(key, content, mode).await;
        self.answer(Method::Put, key, result).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.inner.get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        self.inner.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let result = self.inner.delete(key).await;
        self.answer(Method::Delete, key, result).await
    }

    fn location(&self) -> String {
        self.inner.location()
    }
}
