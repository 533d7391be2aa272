//! Keeping account of the trips to a store.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use crate::account::{Account, Call};
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

    fn of_calls(calls: &[Call]) -> Self {
        let mut counts = Self::default();
        for call in calls {
            if let Some(count) = counts.calls.get_mut(call.method as usize) {
                *count += 1;
            }
        }
        counts
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

/// A store of records or artifacts that keeps account of its calls.
///
/// Every call is kept until [`reset`](Self::reset): this is for tests and measurements.
#[derive(Debug, Default)]
pub struct CountingStore<S> {
    inner: S,
    calls: Mutex<Vec<Call>>,
}

/// A [`CountingStore`] as one part of a program sees it: its calls carry a name and the place in the source
/// where this was made.
#[derive(Debug)]
pub struct Accessor<S> {
    store: Arc<CountingStore<S>>,
    origin: Origin,
}

#[derive(Clone, Debug, Default)]
struct Origin {
    accessor: Arc<str>,
    site: Option<&'static Location<'static>>,
}

impl<S> CountingStore<S> {
    /// Counts the calls of `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, calls: Mutex::default() }
    }

    /// The store whose calls are counted; what is called on it directly is not.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// This store for the part of a program that is called `name`; where this is called stands in the account.
    #[must_use]
    #[track_caller]
    pub fn accessor(self: &Arc<Self>, name: impl Into<Arc<str>>) -> Accessor<S> {
        let origin = Origin { accessor: name.into(), site: Some(Location::caller()) };
        Accessor { store: Arc::clone(self), origin }
    }

    /// The calls since the start, or the last [`reset`](Self::reset).
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of_calls(&self.locked())
    }

    /// Every call since the start or the last [`reset`](Self::reset), in the order of their beginning.
    #[must_use]
    pub fn account(&self) -> Account {
        Account { calls: self.locked().clone() }
    }

    /// Starts at zero again, and answers what was counted before.
    pub fn reset(&self) -> Counts {
        Counts::of_calls(&std::mem::take(&mut *self.locked()))
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, method: Method, target: &str, origin: &Origin) -> &S {
        let (accessor, target) = (Arc::clone(&origin.accessor), Arc::from(target));
        let site =
            origin.site.map_or_else(String::new, |it| format!("{}:{}", it.file(), it.line()));
        self.locked().push(Call { method, target, accessor, site: site.into() });
        &self.inner
    }
}

impl<S> Accessor<S> {
    fn count(&self, method: Method, target: &str) -> &S {
        self.store.count(method, target, &self.origin)
    }
}

#[async_trait]
impl<S: RecordStore> RecordStore for CountingStore<S> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.count(Method::Get, key.as_str(), &Origin::default()).get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let store = self.count(Method::PutIfVersion, key.as_str(), &Origin::default());
        store.put_if_version(key, body, expected).await
    }

    /// Counted as the conditional write that it is.
    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let store = self.count(Method::PutIfVersion, key.as_str(), &Origin::default());
        store.put_in_parts(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.count(Method::PutIfAbsent, key.as_str(), &Origin::default())
            .put_if_absent(key, body)
            .await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.count(Method::Delete, key.as_str(), &Origin::default()).delete(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.count(Method::List, prefix, &Origin::default()).list(prefix).await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.count(Method::GetAll, prefix, &Origin::default()).get_all(prefix).await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        self.inner.try_hold(name).await
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.inner.clock_ahead()
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

    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        self.inner.sweep_leftovers(before).await
    }
}

#[async_trait]
impl<S: ArtifactStore> ArtifactStore for CountingStore<S> {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        self.count(Method::Put, key.as_str(), &Origin::default()).put(key, content, mode).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.count(Method::Get, key.as_str(), &Origin::default()).get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        self.count(Method::List, prefix, &Origin::default()).list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.count(Method::Delete, key.as_str(), &Origin::default()).delete(key).await
    }

    fn location(&self) -> String {
        self.inner.location()
    }
}

#[async_trait]
impl<S: RecordStore> RecordStore for Accessor<S> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.count(Method::Get, key.as_str()).get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let store = self.count(Method::PutIfVersion, key.as_str());
        store.put_if_version(key, body, expected).await
    }

    /// Counted as the conditional write that it is.
    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let store = self.count(Method::PutIfVersion, key.as_str());
        store.put_in_parts(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.count(Method::PutIfAbsent, key.as_str()).put_if_absent(key, body).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.count(Method::Delete, key.as_str()).delete(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.count(Method::List, prefix).list(prefix).await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.count(Method::GetAll, prefix).get_all(prefix).await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        self.store.inner.try_hold(name).await
    }

    fn location(&self) -> String {
        self.store.inner.location()
    }

    fn bulk_read(&self) -> BulkRead {
        self.store.inner.bulk_read()
    }

    fn max_body_size(&self) -> Option<u64> {
        self.store.inner.max_body_size()
    }

    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        self.store.inner.check_claim_size(key, body)
    }

    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        self.store.inner.sweep_leftovers(before).await
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.store.inner.clock_ahead()
    }
}

#[async_trait]
impl<S: ArtifactStore> ArtifactStore for Accessor<S> {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        self.count(Method::Put, key.as_str()).put(key, content, mode).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.count(Method::Get, key.as_str()).get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        self.count(Method::List, prefix).list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.count(Method::Delete, key.as_str()).delete(key).await
    }

    fn location(&self) -> String {
        self.store.inner.location()
    }
}
