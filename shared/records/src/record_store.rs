//! The store of records: conditional writes of small bodies.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Key, StoreError, Version};

/// A body and the version it was read at.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// What was written, byte for byte.
    pub body: Bytes,
    /// The token that a conditional write of this state names.
    pub version: Version,
}

/// Without the body, which may hold secrets.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("size", &self.body.len())
            .field("version", &self.version)
            .finish()
    }
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The record's key.
    pub key: Key,
    /// Its version at the time of listing, the same token as [`Record::version`].
    pub version: Version,
    /// Bytes in its body.
    pub size: u64,
}

/// How a store reads many bodies, which decides whether a cache of bodies is worth keeping beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkRead {
    /// [`RecordStore::get_all`] costs about as much as [`RecordStore::list`].
    WithList,
    /// [`RecordStore::get_all`] costs a list and one request for every body.
    OneByOne,
}

/// What came of asking for a lock that ends with this process.
#[derive(Debug)]
pub enum Hold {
    /// Ours, until the guard is dropped or this process ends in any way. Nobody else alive has it.
    Held(HoldGuard),
    /// Somebody alive has it.
    Taken,
    /// This store cannot tell who is alive: its users agree on leases instead.
    NotOffered,
}

/// Lets go of a [`Hold`] when it is dropped.
pub struct HoldGuard {
    _guard: Box<dyn Any + Send + Sync>,
}

impl HoldGuard {
    /// Holds for as long as `guard` lives.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

impl fmt::Debug for HoldGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HoldGuard")
    }
}

/// Bodies under keys, changed by compare-and-swap only.
///
/// What every implementation promises, and [`conformance`](crate::conformance) checks:
///
/// - A write that succeeds is durable, and every read that starts after it sees it or a later one.
/// - A conditional write compares and writes in one indivisible step. Of several writers that expect the
///   same version at most one succeeds, whatever processes or machines they run on.
/// - A body is read whole, as one writer wrote it, also after that or another writer was killed.
/// - Absence is no error. A missing root (directory, bucket, namespace) is:
///   [`StoreError::RootMissing`].
///
/// Bodies are taken to be unique: a store that finds the very body it was asked to write, where it expected
/// another version, may take it for an earlier attempt at the same write whose answer was lost, and succeed.
///
/// After an error for which [`StoreError::leaves_doubt`] holds, a write may have been done: its writer
/// reads back and compares. Dropping the future of a write leaves the same doubt.
#[async_trait]
pub trait RecordStore: Send + Sync {
    /// Reads one record; `None` when there is nothing under the key.
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError>;

    /// Writes a body if the key still has the version `expected`, and answers the new version. The absent
    /// version expects that there is nothing, as [`put_if_absent`](Self::put_if_absent) does.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`], and nothing was changed, when the version is another.
    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError>;

    /// Writes a body if there is nothing under the key, and answers its version.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`], and nothing was changed, when there is something.
    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError>;

    /// As [`put_if_version`](Self::put_if_version), for what must not be lost: the result of a change that was
    /// made. A store that ends the size of bodies keeps a larger one in several pieces, where it can; whoever
    /// reads sees one body. Nothing else is written like this: sizes are refused before a change begins, by
    /// [`check_claim_size`](Self::check_claim_size).
    ///
    /// # Errors
    ///
    /// As [`put_if_version`](Self::put_if_version), and [`StoreError::TooLarge`] where there is no way to keep it.
    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.put_if_version(key, body, expected).await
    }

    /// Removes a record if it still has the version `expected`. Where there is nothing, the absent version
    /// succeeds and any other conflicts.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`], and nothing was changed, when the version is another.
    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError>;

    /// Every record whose key starts with the text `prefix`, in the order of the keys' bytes.
    ///
    /// The prefix is plain text and may end within a segment: `r/i/ab` matches `r/i/abc`. A text that
    /// no key can start with matches nothing. What exists throughout the call is listed; what is created
    /// or deleted meanwhile may or may not be.
    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError>;

    /// Every record, with its body, that [`list`](Self::list) would list, in the same order: all of them or an
    /// error, never a part.
    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError>;

    /// Takes a named lock that ends with this process, where the store has such locks.
    async fn try_hold(&self, _name: &Key) -> Result<Hold, StoreError> {
        Ok(Hold::NotOffered)
    }

    /// By how many seconds the store's clock was ahead of this machine's when the store answered last, as exactly as whole
    /// seconds and the time that the answer took allow; `None` where the store has no clock of its own, or has not answered
    /// yet. Leases hold where clocks agree.
    fn clock_ahead(&self) -> Option<i64> {
        None
    }

    /// Removes what writes that were cut short have left behind, which no record names: what listings since the store
    /// was opened have shown of it that was made before the second `before` since the epoch. A hundred of such things
    /// at most; answers how many.
    ///
    /// # Errors
    ///
    /// Those of removing. What is left is found again.
    async fn sweep_leftovers(&self, _before: i64) -> Result<usize, StoreError> {
        Ok(0)
    }

    /// Where the records are, for messages: `.plumb`, `s3://bucket/prefix`.
    fn location(&self) -> String;

    /// How [`get_all`](Self::get_all) compares to [`list`](Self::list).
    fn bulk_read(&self) -> BulkRead;

    /// The largest body the store holds, in bytes; `None` where only the disk ends it. Larger ones are refused
    /// as [`StoreError::TooLarge`].
    fn max_body_size(&self) -> Option<u64>;

    /// Whether a change may begin of a record that has this body with its claim: a quarter of what the store
    /// holds has to be left for what comes back from the change.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLarge`] where it is not left.
    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        let size = body.len() as u64;
        match self.max_body_size().map(|limit| limit / 4 * 3) {
            Some(limit) if size > limit => {
                Err(StoreError::TooLarge { key: key.clone(), size, limit })
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl<S: RecordStore + ?Sized> RecordStore for Arc<S> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        (**self).get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        (**self).put_if_version(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        (**self).put_if_absent(key, body).await
    }

    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        (**self).put_in_parts(key, body, expected).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        (**self).delete(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        (**self).list(prefix).await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        (**self).get_all(prefix).await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        (**self).try_hold(name).await
    }

    fn clock_ahead(&self) -> Option<i64> {
        (**self).clock_ahead()
    }

    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        (**self).sweep_leftovers(before).await
    }

    fn location(&self) -> String {
        (**self).location()
    }

    fn bulk_read(&self) -> BulkRead {
        (**self).bulk_read()
    }

    fn max_body_size(&self) -> Option<u64> {
        (**self).max_body_size()
    }

    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        (**self).check_claim_size(key, body)
    }
}
