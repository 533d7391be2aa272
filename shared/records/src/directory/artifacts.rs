//! Artifacts in a directory.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::names::Kind;
use super::root::Root;
use super::tree::{Condition, Decision, Tree};
use super::{Opening, blocking};
use crate::error::FileOperation;
use crate::{ArtifactEntry, ArtifactStore, Key, PutMode, StoreError};

/// Artifacts in a directory, which may be the same as that of a [`DirectoryStore`](super::DirectoryStore).
#[derive(Clone, Debug)]
pub struct DirectoryArtifacts {
    tree: Tree,
}

impl DirectoryArtifacts {
    /// Opens the store whose directory is `root`.
    ///
    /// # Errors
    ///
    /// As [`DirectoryStore::open`](super::DirectoryStore::open).
    pub async fn open(root: impl Into<PathBuf>, opening: Opening) -> Result<Self, StoreError> {
        let root = root.into();
        let at = root.clone();
        let root = blocking(&at, move || Root::open(root, opening)).await?;
        Ok(Self { tree: Tree::new(Arc::new(root), Kind::Artifact) })
    }
}

#[async_trait]
impl ArtifactStore for DirectoryArtifacts {
    async fn put(&self, key: &Key, content: Bytes, mode: PutMode) -> Result<(), StoreError> {
        let (tree, key) = (self.tree.clone(), key.clone());
        blocking(self.tree.root().path(), move || {
            let create = |present: Option<&[u8]>| match present {
                None => Ok(Decision::Change),
                Some(present) if *present == *content => Ok(Decision::Keep),
                Some(_) => Err(StoreError::AlreadyExists { key: key.clone() }),
            };
            let condition = match mode {
                PutMode::Create => Condition::Judge(&create),
                PutMode::Overwrite => Condition::Any,
            };
            tree.write(&key, &content, &condition)
        })
        .await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let (tree, key) = (self.tree.clone(), key.clone());
        blocking(self.tree.root().path(), move || Ok(tree.read(&key)?.map(Bytes::from))).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        let (tree, prefix) = (self.tree.clone(), prefix.to_owned());
        blocking(self.tree.root().path(), move || {
            let mut entries = Vec::new();
            for (key, path) in tree.list(&prefix)? {
                match std::fs::metadata(&path) {
                    Ok(metadata) => entries.push(ArtifactEntry { key, size: metadata.len() }),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => return Err(StoreError::io(FileOperation::Read, &path, error)),
                }
            }
            Ok(entries)
        })
        .await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let (tree, key) = (self.tree.clone(), key.clone());
        blocking(self.tree.root().path(), move || tree.remove(&key, &Condition::Any)).await
    }

    fn location(&self) -> String {
        self.tree.root().location()
    }
}
