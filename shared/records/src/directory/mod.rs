//! The stores in a directory, the default: `.plumb` beside the configuration.

mod artifacts;
mod file_system;
mod locks;
mod names;
mod root;
mod staging;
mod syncing;
mod tree;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{BulkRead, Entry, Hold, HoldGuard, Key, Record, RecordStore, StoreError, Version};

pub use artifacts::DirectoryArtifacts;
pub use locks::ProcessLock;

use names::Kind;
use root::Root;
use tree::{Condition, Decision, Tree, read_file};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Whether opening a store may make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The store has to exist; nothing on disk is touched.
    Existing,
    /// The store is made where it does not exist.
    Create,
}

/// Records in a directory, shared by any number of processes on one machine.
///
/// ```text
/// layout         what this is; written last when a store is made
/// records/…      one file per record: the key's segments as folders, the last with ".record"
/// artifacts/…    the same for artifacts, with ".artifact"
/// staging/       bodies that are being written
/// lock           locked while names are compared and changed, or listed: for microseconds
/// locks/         one file per process lock that is held
/// ```
///
/// A body's version is the start of its SHA-256. A body is written to `staging/` and synced, renamed into
/// its place, and the folder synced: whatever is killed, the old body or the new one is there. Any tool can
/// read and copy the files; a copy made beside a writer has every body whole, though not all of one
/// moment. Files are for their owner alone (0600, folders 0700). Bytes of key segments other than `a-z`,
/// `0-9`, `.`, `-`, `_` and `~` are written as `%hh`; a segment that needs a file name above 255 bytes is refused.
///
/// Clones are the same store. Its operations run on the blocking threads of the Tokio runtime that they are
/// called from. The directory must be on one file system that has advisory locks and renames in one
/// step, as local file systems do; network file systems are refused.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    tree: Tree,
}

impl DirectoryStore {
    /// Opens the store whose directory is `root`.
    ///
    /// # Errors
    ///
    /// [`StoreError::RootMissing`] when there is none and `opening` does not make it,
    /// [`StoreError::UnsupportedLayout`] when another version of the crate made it, and
    /// [`StoreError::Unsuitable`] when it is on a network file system.
    pub async fn open(root: impl Into<PathBuf>, opening: Opening) -> Result<Self, StoreError> {
        let root = root.into();
        let at = root.clone();
        let root = blocking(&at, move || Root::open(root, opening)).await?;
        Ok(Self { tree: Tree::new(Arc::new(root), Kind::Record) })
    }

    /// Takes the lock `name`, or answers `None` while another holder, in this process or any, has it.
    ///
    /// It is free when the guard is dropped or the process ends, by `kill -9` too: whoever can take a
    /// transaction's lock knows that no living process works on it.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidKey`] when the name is longer than a file's name can be, and [`StoreError::Io`].
    pub async fn try_process_lock(&self, name: &Key) -> Result<Option<ProcessLock>, StoreError> {
        let path = self.tree.root().process_locks().join(names::flat_name(name)?);
        let tree = self.tree.clone();
        self.blocking(move || {
            ProcessLock::try_take(path).map_err(|error| tree.root().or_missing(error))
        })
        .await
    }

    async fn write(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let (tree, key, expected) = (self.tree.clone(), key.clone(), expected.clone());
        self.blocking(move || {
            let judge = |present: Option<&[u8]>| expect(&key, &expected, present);
            tree.write(&key, &body, &Condition::Judge(&judge))?;
            Ok(Version::of_body(&body))
        })
        .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        blocking(self.tree.root().path(), work).await
    }
}

fn expect(key: &Key, expected: &Version, present: Option<&[u8]>) -> Result<Decision, StoreError> {
    let actual = present.map_or_else(Version::absent, Version::of_body);
    if actual == *expected {
        Ok(Decision::Change)
    } else {
        Err(StoreError::Conflict { key: key.clone(), expected: expected.clone(), actual })
    }
}

#[async_trait]
impl RecordStore for DirectoryStore {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        let (tree, key) = (self.tree.clone(), key.clone());
        self.blocking(move || Ok(tree.read(&key)?.map(record))).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.write(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.write(key, body, &Version::absent()).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        let (tree, key, expected) = (self.tree.clone(), key.clone(), expected.clone());
        self.blocking(move || {
            let judge = |present: Option<&[u8]>| match expect(&key, &expected, present) {
                Ok(_) if present.is_none() => Ok(Decision::Keep),
                decision => decision,
            };
            tree.remove(&key, &Condition::Judge(&judge))
        })
        .await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let (tree, prefix) = (self.tree.clone(), prefix.to_owned());
        self.blocking(move || {
            let mut entries = Vec::new();
            for (key, path) in tree.list(&prefix)? {
                // What was deleted since its name was read is left out.
                if let Some(body) = read_file(&path)? {
                    let (version, size) = (Version::of_body(&body), body.len() as u64);
                    entries.push(Entry { key, version, size });
                }
            }
            Ok(entries)
        })
        .await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        let (tree, prefix) = (self.tree.clone(), prefix.to_owned());
        self.blocking(move || {
            let mut records = Vec::new();
            for (key, path) in tree.list(&prefix)? {
                if let Some(body) = read_file(&path)? {
                    records.push((key, record(body)));
                }
            }
            Ok(records)
        })
        .await
    }

    async fn try_hold(&self, name: &Key) -> Result<Hold, StoreError> {
        Ok(match self.try_process_lock(name).await? {
            Some(lock) => Hold::Held(HoldGuard::new(lock)),
            None => Hold::Taken,
        })
    }

    fn location(&self) -> String {
        self.tree.root().location()
    }

    fn bulk_read(&self) -> BulkRead {
        BulkRead::WithList
    }

    fn max_body_size(&self) -> Option<u64> {
        None
    }
}

fn record(body: Vec<u8>) -> Record {
    Record { version: Version::of_body(&body), body: body.into() }
}

/// Runs file work off the runtime's threads.
async fn blocking<T: Send + 'static>(
    root: &Path,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(cancelled) => Err(StoreError::Io {
                path: root.to_owned(),
                operation: crate::FileOperation::Read,
                cause: io::Error::other(cancelled),
            }),
        },
    }
}

fn create_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(FILE_MODE).open(path).map(drop)
}
