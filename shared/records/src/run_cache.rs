//! The cache of one invocation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Mutex;

use crate::memory::starting_with;
use crate::{BulkRead, Entry, Hold, Key, Record, RecordStore, StoreError, Version};

/// Reads a prefix in bulk once, and answers from that until the first write.
///
/// The first read below the prefix loads everything below it; reads elsewhere go to the store. The first
/// write through the cache or [`uncached`](Self::uncached), whether it succeeds or not, ends the caching for
/// good: a run that writes must see what others write.
///
/// A cache lives for one invocation. A process that serves several makes one for each.
#[derive(Debug)]
pub struct RunCache<S> {
    shared: Arc<Shared<S>>,
}

/// The store below a [`RunCache`]: reads go to the store, and writes end the caching.
///
/// For reading what is about to be written: a compare-and-swap from a cached version would fail for
/// no reason but the cache.
#[derive(Debug)]
pub struct Uncached<S> {
    shared: Arc<Shared<S>>,
}

#[derive(Debug)]
struct Shared<S> {
    inner: S,
    prefix: String,
    off: AtomicBool,
    // An asynchronous lock, held while loading, so that concurrent first reads load once.
    loaded: Mutex<Option<Arc<Loaded>>>,
}

type Loaded = BTreeMap<Key, Record>;

impl<S: RecordStore> RunCache<S> {
    /// A cache of the records of `inner` whose keys start with the text `prefix`. Nothing is read yet.
    pub fn new(inner: S, prefix: impl Into<String>) -> Self {
        let (prefix, off) = (prefix.into(), AtomicBool::new(false));
        Self { shared: Arc::new(Shared { inner, prefix, off, loaded: Mutex::new(None) }) }
    }

    /// The store itself, for a read that precedes a write.
    #[must_use]
    pub fn uncached(&self) -> Uncached<S> {
        Uncached { shared: Arc::clone(&self.shared) }
    }

    /// Whether reads below the prefix are still answered from the cache.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.shared.off.load(Ordering::Acquire)
    }
}

impl<S: RecordStore> Shared<S> {
    /// What was loaded, now or before; `None` when `text` is elsewhere or the caching has ended.
    async fn cached(&self, text: &str) -> Result<Option<Arc<Loaded>>, StoreError> {
        if !text.starts_with(&self.prefix) || self.off.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut loaded = self.loaded.lock().await;
        if loaded.is_none() && !self.off.load(Ordering::Acquire) {
            let all = self.inner.get_all(&self.prefix).await?;
            *loaded = Some(Arc::new(all.into_iter().collect()));
        }
        // A write may have begun meanwhile: what was loaded can be older than it.
        if self.off.load(Ordering::Acquire) {
            *loaded = None;
        }
        Ok(loaded.clone())
    }

    /// The store, for a write.
    fn writing(&self) -> &S {
        self.off.store(true, Ordering::Release);
        if let Ok(mut loaded) = self.loaded.try_lock() {
            *loaded = None;
        }
        &self.inner
    }
}

#[async_trait]
impl<S: RecordStore> RecordStore for RunCache<S> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        match self.shared.cached(key.as_str()).await? {
            Some(loaded) => Ok(loaded.get(key).cloned()),
            None => self.shared.inner.get(key).await,
        }
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.shared.writing().put_if_version(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.shared.writing().put_if_absent(key, body).await
    }

    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.shared.writing().put_in_parts(key, body, expected).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.shared.writing().delete(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let Some(loaded) = self.shared.cached(prefix).await? else {
            return self.shared.inner.list(prefix).await;
        };
        let entries = starting_with(&loaded, prefix).map(|(key, record)| Entry {
            key: key.clone(),
            version: record.version.clone(),
            size: record.body.len() as u64,
        });
        Ok(entries.collect())
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        let Some(loaded) = self.shared.cached(prefix).await? else {
            return self.shared.inner.get_all(prefix).await;
        };
        let all = starting_with(&loaded, prefix);
        Ok(all.map(|(key, record)| (key.clone(), record.clone())).collect())
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        self.shared.inner.try_hold(name).await
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.shared.inner.clock_ahead()
    }

    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        self.shared.inner.sweep_leftovers(before).await
    }

    fn location(&self) -> String {
        self.shared.inner.location()
    }

    fn bulk_read(&self) -> BulkRead {
        self.shared.inner.bulk_read()
    }

    fn max_body_size(&self) -> Option<u64> {
        self.shared.inner.max_body_size()
    }

    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        self.shared.inner.check_claim_size(key, body)
    }
}

#[async_trait]
impl<S: RecordStore> RecordStore for Uncached<S> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.shared.inner.get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.shared.writing().put_if_version(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.shared.writing().put_if_absent(key, body).await
    }

    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.shared.writing().put_in_parts(key, body, expected).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.shared.writing().delete(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        self.shared.inner.list(prefix).await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        self.shared.inner.get_all(prefix).await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        self.shared.inner.try_hold(name).await
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.shared.inner.clock_ahead()
    }

    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        self.shared.inner.sweep_leftovers(before).await
    }

    fn location(&self) -> String {
        self.shared.inner.location()
    }

    fn bulk_read(&self) -> BulkRead {
        self.shared.inner.bulk_read()
    }

    fn max_body_size(&self) -> Option<u64> {
        self.shared.inner.max_body_size()
    }

    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        self.shared.inner.check_claim_size(key, body)
    }
}
