//! Counting the trips to a store.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    ArtifactEntry, ArtifactStore, BulkRead, Entry, Hold, Key, PutMode, Record, RecordStore,
    StoreError, Version,
};

/// What was asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Reading one body.
    Get,
    /// Reading all bodies with a prefix.
    GetAll,
    /// Listing.
    List,
    /// Writing an artifact.
    Put,
    /// Creating a record.
    PutIfAbsent,
    /// Changing a record.
    PutIfVersion,
    /// Removing.
    Delete,
}

impl Method {
    /// Every method, in the order of their declaration, which counts are kept in.
    pub const ALL: [Self; 7] = [
        Self::Get,
        Self::GetAll,
        Self::List,
        Self::Put,
        Self::PutIfAbsent,
        Self::PutIfVersion,
        Self::Delete,
    ];

    /// The method's name, as in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::GetAll => "get_all",
            Self::List => "list",
            Self::Put => "put",
            Self::PutIfAbsent => "put_if_absent",
            Self::PutIfVersion => "put_if_version",
            Self::Delete => "delete",
        }
    }

    /// Whether the method changes the store.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Put | Self::PutIfAbsent | Self::PutIfVersion | Self::Delete)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How often each method was called, whether it succeeded or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    calls: [u64; Method::ALL.len()],
}

impl Counts {
    /// Calls of one method.
    #[must_use]
    pub fn of(&self, method: Method) -> u64 {
        self.calls.get(method as usize).copied().unwrap_or_default()
    }

    /// Calls of all methods.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.calls.iter().sum()
    }

    /// Calls of the methods that change the store.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.iter().filter(|(method, _)| method.is_write()).map(|(_, calls)| calls).sum()
    }

    /// Every method with its calls, in the order of [`Method::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Method, u64)> + '_ {
        Method::ALL.into_iter().zip(self.calls)
    }
}

/// For people: the methods that were called, as in `get 3, list 1`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let called: Vec<_> = self
            .iter()
            .filter(|(_, calls)| *calls > 0)
            .map(|(method, calls)| format!("{method} {calls}"))
            .collect();
        f.write_str(if called.is_empty() { "none" } else { "" })?;
        f.write_str(&called.join(", "))
    }
}

/// A store of records or artifacts that counts its calls. Put it below a cache to count trips.
#[derive(Debug, Default)]
pub struct CountingStore<S> {
    inner: S,
    calls: [AtomicU64; Method::ALL.len()],
}

impl<S> CountingStore<S> {
    /// Counts the calls of `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, calls: Default::default() }
    }

    /// The store whose calls are counted; what is called on it directly is not.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// The calls since the start, or the last [`reset`](Self::reset).
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { calls: self.calls.each_ref().map(|calls| calls.load(Ordering::Relaxed)) }
    }

    /// Starts at zero again, and answers what was counted before.
    pub fn reset(&self) -> Counts {
        Counts { calls: self.calls.each_ref().map(|calls| calls.swap(0, Ordering::Relaxed)) }
    }

    fn count(&self, method: Method) -> &S {
        if let Some(calls) = self.calls.get(method as usize) {
            calls.fetch_add(1, Ordering::Relaxed);
        }
        &self.inner
    }
}

#[async_trait]
impl<S: RecordStore> RecordStore for CountingStore<S> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.count(Method::Get).get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.count(Method::PutIfVersion).put_if_version(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.count(Method::PutIfAbsent).put_if_absent(key, body).await
    }

    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.count(Method::PutIfVersion).put_in_parts(key, body, expected).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.count(Method::Delete).delete(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.count(Method::List).list(prefix).await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.count(Method::GetAll).get_all(prefix).await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        self.inner.try_hold(name).await
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
impl<S: ArtifactStore> ArtifactStore for CountingStore<S> {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        self.count(Method::Put).put(key, content, mode).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.count(Method::Get).get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        self.count(Method::List).list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.count(Method::Delete).delete(key).await
    }

    fn location(&self) -> String {
        self.inner.location()
    }
}
