//! A filesystem mirror of providers, as a store that is only read.

use async_trait::async_trait;
use bytes::Bytes;
use records::{ArtifactEntry, ArtifactStore, FileOperation, Key, PutMode, StoreError};
use std::io;
use std::path::PathBuf;

/// A folder that `plumb providers mirror` fills.
#[derive(Clone, Debug)]
pub(crate) struct MirrorFolder(PathBuf);

impl MirrorFolder {
    pub(super) fn of(folder: PathBuf) -> MirrorFolder {
        MirrorFolder(folder)
    }

    fn failed(&self, key: &str, cause: io::Error) -> StoreError {
        StoreError::Io { operation: FileOperation::Read, path: self.0.join(key), cause }
    }

    fn read_only(&self) -> StoreError {
        StoreError::Unsuitable {
            location: self.location(),
            problem: "plumb providers mirror fills it, and nobody else".to_owned(),
        }
    }
}

#[async_trait]
impl ArtifactStore for MirrorFolder {
    async fn put(&self, _key: &Key, _content: Bytes, _mode: PutMode) -> Result<(), StoreError> {
        Err(self.read_only())
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        match tokio::fs::read(self.0.join(key.as_str())).await {
            Ok(content) => Ok(Some(content.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(key.as_str(), error)),
        }
    }

    /// The file of exactly this name, which is all that is asked of a mirror.
    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        let key = Key::new(prefix)?;
        match tokio::fs::metadata(self.0.join(key.as_str())).await {
            Ok(file) if file.is_file() => Ok(vec![ArtifactEntry { key, size: file.len() }]),
            Ok(_) => Ok(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.failed(prefix, error)),
        }
    }

    async fn delete(&self, _key: &Key) -> Result<(), StoreError> {
        Err(self.read_only())
    }

    fn location(&self) -> String {
        self.0.display().to_string()
    }
}
