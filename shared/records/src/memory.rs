//! Stores in memory, for tests and simulations.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    ArtifactEntry, ArtifactStore, BulkRead, Entry, Key, PutMode, Record, RecordStore, StoreError,
    Version,
};

/// Records in memory. Every write gets a version of its own, whatever its body.
#[derive(Debug, Default)]
pub struct MemoryStore {
    content: Mutex<Records>,
    max_body_size: Option<u64>,
    clock_ahead: Option<i64>,
}

#[derive(Debug, Default)]
struct Records {
    by_key: BTreeMap<Key, Record>,
    writes: u64,
}

impl MemoryStore {
    /// A store without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A store without records that refuses bodies above `limit` bytes, as a remote store may.
    #[must_use]
    pub fn with_max_body_size(limit: u64) -> Self {
        Self { max_body_size: Some(limit), ..Self::default() }
    }

    /// A store without records whose clock is so many seconds ahead of everybody's.
    #[must_use]
    pub fn with_clock_ahead(seconds: i64) -> Self {
        Self { clock_ahead: Some(seconds), ..Self::default() }
    }

    fn put(&self, key: &Key, body: Bytes, expected: &Version) -> Result<Version, StoreError> {
        let size = body.len() as u64;
        if let Some(limit) = self.max_body_size.filter(|limit| size > *limit) {
            return Err(StoreError::TooLarge { key: key.clone(), size, limit });
        }
        let mut records = locked(&self.content);
        records.expect(key, expected)?;
        records.writes += 1;
        let version = Version::new(records.writes.to_string());
        // A view into a larger buffer would keep all of it alive.
        let body = Bytes::copy_from_slice(&body);
        records.by_key.insert(key.clone(), Record { body, version: version.clone() });
        Ok(version)
    }
}

impl Records {
    fn expect(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        let actual =
            self.by_key.get(key).map_or_else(Version::absent, |record| record.version.clone());
        if actual == *expected {
            Ok(())
        } else {
            Err(StoreError::Conflict { key: key.clone(), expected: expected.clone(), actual })
        }
    }
}

#[async_trait]
impl RecordStore for MemoryStore {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        Ok(locked(&self.content).by_key.get(key).cloned())
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.put(key, body, expected)
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.put(key, body, &Version::absent())
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        let mut records = locked(&self.content);
        records.expect(key, expected)?;
        records.by_key.remove(key);
        Ok(())
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let records = locked(&self.content);
        let entries = starting_with(&records.by_key, prefix).map(|(key, record)| Entry {
            key: key.clone(),
            version: record.version.clone(),
            size: record.body.len() as u64,
        });
        Ok(entries.collect())
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        let records = locked(&self.content);
        let all = starting_with(&records.by_key, prefix);
        Ok(all.map(|(key, record)| (key.clone(), record.clone())).collect())
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.clock_ahead
    }

    fn location(&self) -> String {
        "memory".to_owned()
    }

    fn bulk_read(&self) -> BulkRead {
        BulkRead::WithList
    }

    fn max_body_size(&self) -> Option<u64> {
        self.max_body_size
    }
}

/// Artifacts in memory.
#[derive(Default)]
pub struct MemoryArtifacts {
    content: Mutex<BTreeMap<Key, Bytes>>,
}

/// Without the contents, which may hold secrets.
impl fmt::Debug for MemoryArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(locked(&self.content).keys()).finish()
    }
}

impl MemoryArtifacts {
    /// A store without artifacts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifacts {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        let mut artifacts = locked(&self.content);
        match artifacts.get(key) {
            Some(present) if mode == PutMode::Create && *present != content => {
                Err(StoreError::AlreadyExists { key: key.clone() })
            }
            _ => {
                artifacts.insert(key.clone(), content);
                Ok(())
            }
        }
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        Ok(locked(&self.content).get(key).cloned())
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        let artifacts = locked(&self.content);
        let entries = starting_with(&artifacts, prefix)
            .map(|(key, content)| ArtifactEntry { key: key.clone(), size: content.len() as u64 });
        Ok(entries.collect())
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        locked(&self.content).remove(key);
        Ok(())
    }

    fn location(&self) -> String {
        "memory".to_owned()
    }
}

fn starting_with<'a, T>(
    map: &'a BTreeMap<Key, T>,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a Key, &'a T)> {
    map.range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.as_str().starts_with(prefix))
}

/// A map is whole between any two statements that hold its lock, also after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
