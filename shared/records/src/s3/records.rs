//! Records in a bucket.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::task::JoinSet;

use super::connection::S3Connection;
use super::objects::{Condition, Object, Objects};
use super::{probing, settling};
use crate::{BulkRead, Entry, Key, Record, RecordStore, StoreError, Version};

/// What one request can carry.
const MAX_BODY_SIZE: u64 = 5 * 1024 * 1024 * 1024;

/// Records in a bucket, one object each. Clones are the same store.
///
/// A version is the object's `ETag`: what S3 compares in `If-Match`. It is the MD5 of a body only where S3
/// holds the key of its encryption; with a KMS key it is not, and nothing here takes it for more than a token.
/// Encryption is the bucket's own: no write asks for another.
///
/// A write is one request that carries its condition. Where it is refused, or not answered, the object is
/// read back and compared with what was sent, so that a conflict is never with oneself.
#[derive(Clone, Debug)]
pub struct S3Store {
    objects: Objects,
}

impl S3Store {
    /// The store below the connection's prefix. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsuitable`] when the tags are more than S3 takes.
    pub fn new(connection: S3Connection) -> Result<Self, StoreError> {
        Self::with_tags(connection, BTreeMap::new())
    }

    /// The store whose writes carry `tags`. Tags of the connection's settings win over them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsuitable`] when S3 would not take the tags.
    pub fn with_tags(
        connection: S3Connection,
        tags: BTreeMap<String, String>,
    ) -> Result<Self, StoreError> {
        Ok(Self { objects: Objects::new(connection, tags)? })
    }

    /// The connection it was made with.
    #[must_use]
    pub fn connection(&self) -> &S3Connection {
        &self.objects.connection
    }
}

#[async_trait]
impl RecordStore for S3Store {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        Ok(self.objects.get(key).await?.map(record))
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let size = body.len() as u64;
        if size > MAX_BODY_SIZE {
            return Err(StoreError::TooLarge { key: key.clone(), size, limit: MAX_BODY_SIZE });
        }
        probing::require_honesty(&self.objects).await?;
        settling::put(&self.objects, key, &body, &Condition::of(expected)).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.put_if_version(key, body, &Version::absent()).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        probing::require_honesty(&self.objects).await?;
        settling::delete(&self.objects, key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let listed = self.objects.list(prefix).await?.into_iter();
        Ok(listed.map(|it| Entry { key: it.key, version: it.version, size: it.size }).collect())
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        let mut keys = self.objects.list(prefix).await?.into_iter().map(|listed| listed.key);
        let mut records = Vec::with_capacity(keys.len());
        // Dropped at the first error, and the rest of the reads with it.
        let mut reads = JoinSet::new();
        loop {
            while reads.len() < self.connection().pace().most()
                && let Some(key) = keys.next()
            {
                let objects = self.objects.clone();
                reads.spawn(async move { (objects.get(&key).await, key) });
            }
            match reads.join_next().await {
                None => break,
                // What was deleted since it was listed is left out.
                Some(Ok((object, key))) => records.extend(object?.map(|it| (key, record(it)))),
                Some(Err(failure)) => match failure.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(cancelled) => {
                        return Err(StoreError::Service {
                            service: self.location(),
                            operation: "GetObject".to_owned(),
                            source: Box::new(cancelled),
                        });
                    }
                },
            }
        }
        records.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Ok(records)
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.connection().clock_ahead()
    }

    fn location(&self) -> String {
        self.connection().location()
    }

    fn bulk_read(&self) -> BulkRead {
        BulkRead::OneByOne
    }

    fn max_body_size(&self) -> Option<u64> {
        Some(MAX_BODY_SIZE)
    }
}

fn record(object: Object) -> Record {
    Record { body: object.body, version: object.version }
}
