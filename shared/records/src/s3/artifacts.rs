//! Artifacts in a bucket.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;

use super::answer::Meaning;
use super::connection::S3Connection;
use super::objects::{Condition, Objects};
use super::{probing, settling};
use crate::{ArtifactEntry, ArtifactStore, Key, PutMode, StoreError};

/// Artifacts in a bucket, one object each. Clones are the same store.
///
/// Records and artifacts need different prefixes or buckets: artifacts expire, records must not.
#[derive(Clone, Debug)]
pub struct S3Artifacts {
    objects: Objects,
}

impl S3Artifacts {
    /// The store below the connection's prefix. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsuitable`] when S3 would not take the tags of the connection's settings.
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

    /// Writes whatever is there. To repeat it is safe, since the last writer stays in any case.
    async fn overwrite(&self, key: &Key, content: &Bytes) -> Result<(), StoreError> {
        let name = self.objects.name(key)?;
        let mut retries = self.objects.retries();
        loop {
            let Err(failure) = self.objects.put_once(&name, content, None).await else {
                return Ok(());
            };
            match retries.after(failure.meaning) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(self.objects.error("PutObject", Some(key), true, failure)),
            }
        }
    }
}

#[async_trait]
impl ArtifactStore for S3Artifacts {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        match mode {
            PutMode::Overwrite => self.overwrite(key, &content).await,
            PutMode::Create => {
                probing::require_honesty(&self.objects).await?;
                match settling::put(&self.objects, key, &content, &Condition::Absent).await {
                    Ok(_) => Ok(()),
                    Err(StoreError::Conflict { key, .. }) => Err(StoreError::AlreadyExists { key }),
                    Err(other) => Err(other),
                }
            }
        }
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        Ok(self.objects.get(key).await?.map(|object| object.body))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        let listed = self.objects.list(prefix).await?.into_iter();
        Ok(listed.map(|it| ArtifactEntry { key: it.key, size: it.size }).collect())
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let name = self.objects.name(key)?;
        let mut retries = self.objects.retries();
        loop {
            let failure = match self.objects.delete_once(&name, None).await {
                Ok(()) => return Ok(()),
                Err(failure) if failure.meaning == Meaning::NoSuchKey => return Ok(()),
                Err(failure) => failure,
            };
            match retries.after(failure.meaning) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(self.objects.error("DeleteObject", Some(key), true, failure)),
            }
        }
    }

    fn location(&self) -> String {
        self.objects.connection.location()
    }
}
