//! Advisory locks that end with the process that holds them.
//!
//! The locks belong to open files (`flock`), so two holders in one process exclude each other as two
//! processes do, and the operating system lets go of them however a process ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::FILE_MODE;
use crate::StoreError;
use crate::error::FileOperation;

/// The lock on a store's names, held while they are compared and changed, or listed.
///
/// Its file is made with the store and never removed: a lock on a removed file would exclude nobody.
#[derive(Debug)]
pub(super) struct NamesLock {
    _file: File,
}

impl NamesLock {
    /// For changing names. `None` when the lock's file, and so the store, is missing.
    pub(super) fn exclusive(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::take(path, File::lock)
    }

    /// For listing names, together with others who list.
    pub(super) fn shared(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::take(path, File::lock_shared)
    }

    fn take(path: &Path, lock: fn(&File) -> io::Result<()>) -> Result<Option<Self>, StoreError> {
        let refused = |source| StoreError::io(FileOperation::Lock, path, source);
        // Opened for reading alone, so that who may only read the store can list it.
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(error)),
        };
        loop {
            match lock(&file) {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(refused(error)),
            }
        }
    }
}

/// A named lock of one process, free again when it is dropped or the process ends in any way.
///
/// Taken with [`DirectoryStore::try_process_lock`](super::DirectoryStore::try_process_lock).
#[derive(Debug)]
pub struct ProcessLock {
    file: File,
    path: PathBuf,
}

impl ProcessLock {
    /// Takes the lock, or answers `None` while another holds it.
    pub(super) fn try_take(path: PathBuf) -> Result<Option<Self>, StoreError> {
        let refused = |source| StoreError::io(FileOperation::Lock, &path, source);
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(FILE_MODE)
                .open(&path)
                .map_err(refused)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {
                    continue;
                }
                Err(TryLockError::Error(error)) => return Err(refused(error)),
            }
            // Whoever held it may have removed the file between our opening and locking it: then the
            // next one to come would lock another file than ours.
            if is_at(&file, &path).map_err(refused)? {
                return Ok(Some(Self { file, path }));
            }
        }
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // Removed while still held, so that nobody's lock is removed but ours. What cannot be removed
        // is only an empty file that the next holder takes over.
        if is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
