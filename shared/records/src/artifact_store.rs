//! The store of artifacts: plans, bundles and snapshots.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Key, StoreError};

/// Whether a put may replace what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// For what never changes, such as plans and bundles. Putting the same content again succeeds, so that
    /// a put whose answer was lost can be repeated; another content is refused.
    Create,
    /// For caches that may be lost, such as snapshots: the last writer stays.
    Overwrite,
}

/// One line of a list of artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactEntry {
    /// The artifact's key.
    pub key: Key,
    /// Bytes in its content.
    pub size: u64,
}

/// Contents under keys, written whole and read whole, without versions.
///
/// A put that succeeds is durable, a content is read as one writer wrote it, absence is no error and a
/// missing root is one, as in [`RecordStore`](crate::RecordStore).
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Writes a content under a key.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyExists`], and nothing was changed, when the mode is [`PutMode::Create`] and
    /// another content is there.
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError>;

    /// Reads a content; `None` when there is none.
    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError>;

    /// Every artifact whose key starts with the text `prefix`, in the order of the keys' bytes.
    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError>;

    /// Removes an artifact; succeeds where there is none.
    async fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Where the artifacts are, for messages.
    fn location(&self) -> String;
}

#[async_trait]
impl<S: ArtifactStore + ?Sized> ArtifactStore for Arc<S> {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        (**self).put(key, content, mode).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        (**self).get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        (**self).list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        (**self).delete(key).await
    }

    fn location(&self) -> String {
        (**self).location()
    }
}
