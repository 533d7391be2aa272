//! Files that are written in full before they get their name.
//!
//! They live in a folder of their own on the store's file system, so that no listing meets them and
//! what killed processes left is found without a walk. Each is locked while it is in use: a file that
//! can be locked has lost its writer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::FILE_MODE;
use crate::StoreError;
use crate::error::FileOperation;

/// A durable file without its final name; removed unless it gets one.
#[derive(Debug)]
pub(super) struct Staged {
    // Holds the lock that keeps other processes from sweeping the file.
    _file: File,
    path: PathBuf,
    placed: bool,
}

impl Staged {
    /// Writes a body to disk. The error kind `NotFound` means that the folder is missing.
    pub(super) fn write(folder: &Path, body: &[u8]) -> Result<Self, StoreError> {
        let mut staged = Self::create(folder)?;
        let failed = |source| StoreError::io(FileOperation::Write, &staged.path, source);
        staged._file.write_all(body).map_err(failed)?;
        let failed = |source| StoreError::io(FileOperation::Sync, &staged.path, source);
        staged._file.sync_all().map_err(failed)?;
        Ok(staged)
    }

    fn create(folder: &Path) -> Result<Self, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            // Processes that share the store may have the same id (containers): whoever comes second
            // takes its next number.
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            let opened =
                OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&path);
            let file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(StoreError::io(FileOperation::Write, &path, error)),
            };
            // Between creating and locking it, a sweep may have taken the file for abandoned.
            let kept = file.try_lock().is_ok()
                && file.metadata().is_ok_and(|metadata| metadata.nlink() > 0);
            let staged = Self { _file: file, path, placed: !kept };
            if kept {
                return Ok(staged);
            }
        }
    }

    /// Gives the file its name, in place of what had it.
    pub(super) fn place(&mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.placed {
            // If it cannot be removed now, a later sweep will.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes what dead processes left. Best effort: leftovers harm nobody but the disk.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            // If its writer has placed it since, this path is gone and nothing is removed.
            let _ = fs::remove_file(&path);
        }
    }
}
