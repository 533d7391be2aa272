//! The folder that everything of a directory store is in.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Once;

use super::staging::{self, Staged};
use super::syncing::FolderSyncs;
use super::{FOLDER_MODE, Kind, Opening, file_system};
use crate::StoreError;
use crate::error::FileOperation;

/// What this version writes into `layout`. Another text there means that the files mean something else.
const LAYOUT: &str = "plumbline directory store 1\n";

/// A root whose layout this version knows.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    swept: Once,
    syncs: FolderSyncs,
}

impl Root {
    pub(super) fn open(path: PathBuf, opening: Opening) -> Result<Self, StoreError> {
        file_system::require_local(&path)?;
        let root = Self { path, swept: Once::new(), syncs: FolderSyncs::default() };
        let known = root.has_layout()?;
        match opening {
            Opening::Existing if !known => return Err(root.missing()),
            // A copy made without the empty folders is mended too.
            Opening::Create if !known || root.parts().iter().any(|part| !part.exists()) => {
                root.create()?;
            }
            _ => {}
        }
        Ok(root)
    }

    fn parts(&self) -> [PathBuf; 5] {
        [
            self.folder(Kind::Record),
            self.folder(Kind::Artifact),
            self.staging(),
            self.process_locks(),
            self.names_lock(),
        ]
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn location(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn missing(&self) -> StoreError {
        StoreError::RootMissing { root: self.location() }
    }

    pub(super) fn folder(&self, kind: Kind) -> PathBuf {
        self.path.join(kind.folder())
    }

    /// The file whose lock guards all names of the store.
    pub(super) fn names_lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    pub(super) fn process_locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    fn staging(&self) -> PathBuf {
        self.path.join("staging")
    }

    /// Writes a body to disk that waits for its name.
    pub(super) fn stage(&self, body: &[u8]) -> Result<Staged, StoreError> {
        let folder = self.staging();
        // At the first write and not when opening: a store that is only read is not touched.
        self.swept.call_once(|| staging::sweep(&folder));
        Staged::write(&folder, body).map_err(|error| self.or_missing(error))
    }

    /// Makes durable what was changed in folders.
    pub(super) fn sync(&self, folders: &[(File, &Path)]) -> Result<(), StoreError> {
        for (folder, path) in folders {
            let synced = self.syncs.sync(folder);
            synced.map_err(|error| StoreError::io(FileOperation::Sync, path, error))?;
        }
        Ok(())
    }

    /// The error, unless its cause is that the whole store is gone.
    pub(super) fn or_missing(&self, error: StoreError) -> StoreError {
        match &error {
            StoreError::Io { cause, .. }
                if cause.kind() == io::ErrorKind::NotFound
                    && !self.path.join("layout").exists() =>
            {
                self.missing()
            }
            _ => error,
        }
    }

    /// An error when the store is gone: what is missing then is not merely absent.
    pub(super) fn require(&self) -> Result<(), StoreError> {
        let layout = self.path.join("layout");
        match fs::metadata(&layout) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(self.missing()),
            Err(error) => Err(StoreError::io(FileOperation::Read, &layout, error)),
        }
    }

    fn has_layout(&self) -> Result<bool, StoreError> {
        let path = self.path.join("layout");
        match fs::read(&path) {
            Ok(found) if found == LAYOUT.as_bytes() => Ok(true),
            Ok(found) => Err(StoreError::UnsupportedLayout {
                root: self.location(),
                found: String::from_utf8_lossy(&found).trim_end().chars().take(80).collect(),
                supported: LAYOUT.trim_end(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io(FileOperation::Read, &path, error)),
        }
    }

    /// Makes what is missing. Two processes may do this at once; the layout comes last, so that a
    /// store that has one is whole.
    fn create(&self) -> Result<(), StoreError> {
        create_folder(&self.path)?;
        let [folders @ .., lock] = self.parts();
        for folder in folders {
            create_folder(&folder)?;
        }
        super::create_file(&lock)
            .map_err(|error| StoreError::io(FileOperation::Write, &lock, error))?;
        let layout = self.path.join("layout");
        self.stage(LAYOUT.as_bytes())?
            .place(&layout)
            .map_err(|error| StoreError::io(FileOperation::Replace, &layout, error))?;
        sync_folder(&self.path)?;
        match self.path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_folder(Path::new(".")),
            Some(parent) => sync_folder(parent),
            None => Ok(()),
        }
    }
}

fn create_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
        .map_err(|error| StoreError::io(FileOperation::CreateFolder, path, error))
}

fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::io(FileOperation::Sync, path, error))
}
