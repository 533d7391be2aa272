//! The bodies of one kind below a root: reading, changing and listing files.
//!
//! A change is prepared without the lock (written and synced), then compared and renamed under it, then
//! made durable without it: the lock is held for microseconds, one is enough for a store, and writers of
//! different keys wait for the disk side by side.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::FOLDER_MODE;
use super::locks::NamesLock;
use super::names::{self, Kind, Name};
use super::root::Root;
use crate::error::FileOperation;
use crate::{Key, KeyFault, StoreError};

/// How often a write starts anew after others removed what it had prepared.
const ATTEMPTS: u32 = 5;

/// What a change decides when it sees the present body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Go on.
    Change,
    /// The key is as it should be.
    Keep,
}

/// Looks at the present body, if there is one.
type Judge<'a> = dyn Fn(Option<&[u8]>) -> Result<Decision, StoreError> + 'a;

/// What a change requires of the present body.
pub(super) enum Condition<'a> {
    /// Nothing.
    Any,
    /// What the function says of it.
    Judge(&'a Judge<'a>),
}

/// All bodies of one kind.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    root: Arc<Root>,
    kind: Kind,
    folder: Arc<Path>,
}

impl Tree {
    pub(super) fn new(root: Arc<Root>, kind: Kind) -> Self {
        let folder = root.folder(kind).into();
        Self { root, kind, folder }
    }

    pub(super) fn root(&self) -> &Root {
        &self.root
    }

    pub(super) fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let found = read_file(&self.path_of(key)?).map_err(|error| of_key(key, error))?;
        if found.is_none() {
            self.root.require()?;
        }
        Ok(found)
    }

    pub(super) fn write(
        &self,
        key: &Key,
        body: &[u8],
        condition: &Condition<'_>,
    ) -> Result<(), StoreError> {
        let path = self.path_of(key)?;
        let mut attempt = 1;
        loop {
            // Most refusals are found here, before anything is written.
            if self.judge(condition, key, &path)? == Decision::Keep {
                return Ok(());
            }
            let mut staged = self.root.stage(body)?;
            let lock = self.lock_exclusively()?;
            if condition.judge(key, &path)? == Decision::Keep {
                return Ok(());
            }
            let mut changed = Vec::new();
            let placed = match staged.place(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self
                    .create_folders(&path, &mut changed)
                    .and_then(|()| staged.place(&path).map_err(|error| replacing(&path, error))),
                other => other.map_err(|error| replacing(&path, error)),
            };
            match placed {
                Ok(()) => {}
                Err(StoreError::Io { cause, .. })
                    if cause.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                    continue;
                }
                Err(error) => return Err(of_key(key, self.root.or_missing(error))),
            }
            changed.extend(path.parent().map(Path::to_owned));
            let changed = open_folders(&changed)?;
            drop(lock);
            return self.root.sync(&changed);
        }
    }

    pub(super) fn remove(&self, key: &Key, condition: &Condition<'_>) -> Result<(), StoreError> {
        let path = self.path_of(key)?;
        // Where there is nothing to do, the lock is not taken.
        if self.judge(condition, key, &path)? == Decision::Keep {
            return self.root.require();
        }
        let lock = self.lock_exclusively()?;
        if condition.judge(key, &path)? == Decision::Keep {
            return Ok(());
        }
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(of_key(key, StoreError::io(FileOperation::Remove, &path, error)));
            }
        }
        // Folders go with their last file; making them needs the lock too, so nobody is in between.
        let mut kept = path.parent();
        while let Some(folder) = kept.filter(|folder| **folder != *self.folder) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
            kept = folder.parent();
        }
        let changed: Vec<_> = kept.map(Path::to_owned).into_iter().collect();
        let changed = open_folders(&changed)?;
        drop(lock);
        self.root.sync(&changed)
    }

    /// The keys that start with a prefix and the paths of their files, in the order of the keys.
    pub(super) fn list(&self, prefix: &str) -> Result<Vec<(Key, PathBuf)>, StoreError> {
        let mut found = Vec::new();
        if let Some((folder, above, start)) = names::folder_of(prefix, self.kind) {
            // Some file systems can miss a name that is replaced while its folder is read.
            let _lock =
                NamesLock::shared(&self.root.names_lock())?.ok_or_else(|| self.root.missing())?;
            let mut pending = vec![(self.folder.join(folder), above.to_owned())];
            let mut start = start;
            while let Some((folder, above)) = pending.pop() {
                self.list_folder(&folder, &above, start, &mut pending, &mut found)?;
                start = "";
            }
        }
        self.root.require()?;
        found.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Ok(found)
    }

    fn list_folder(
        &self,
        folder: &Path,
        above: &str,
        start: &str,
        pending: &mut Vec<(PathBuf, String)>,
        found: &mut Vec<(Key, PathBuf)>,
    ) -> Result<(), StoreError> {
        let failed = |error| StoreError::io(FileOperation::ListFolder, folder, error);
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let name = entry.file_name();
            match names::parse(Path::new(&name), is_folder, self.kind) {
                Some(Name::Folder(segment)) if segment.starts_with(start) => {
                    pending.push((folder.join(name), format!("{above}{segment}/")));
                }
                Some(Name::File(segment)) if segment.starts_with(start) => {
                    // A key that is too long was not written by this store.
                    if let Ok(key) = Key::new(format!("{above}{segment}")) {
                        found.push((key, folder.join(name)));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn path_of(&self, key: &Key) -> Result<PathBuf, StoreError> {
        Ok(self.folder.join(names::path_of(key, self.kind)?))
    }

    /// The decision without the lock: a refusal is final, unless it is the store that is missing.
    fn judge(
        &self,
        condition: &Condition<'_>,
        key: &Key,
        path: &Path,
    ) -> Result<Decision, StoreError> {
        condition.judge(key, path).or_else(|refusal| self.root.require().and(Err(refusal)))
    }

    fn lock_exclusively(&self) -> Result<NamesLock, StoreError> {
        NamesLock::exclusive(&self.root.names_lock())?.ok_or_else(|| self.root.missing())
    }

    /// Makes the folders above a file, and notes those whose list of names that changed.
    fn create_folders(&self, file: &Path, changed: &mut Vec<PathBuf>) -> Result<(), StoreError> {
        let missing: Vec<_> = file
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.folder) && !folder.is_dir())
            .collect();
        for folder in missing.into_iter().rev() {
            match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
                Ok(()) => changed.extend(folder.parent().map(Path::to_owned)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(StoreError::io(FileOperation::CreateFolder, folder, error));
                }
            }
        }
        Ok(())
    }
}

impl Condition<'_> {
    fn judge(&self, key: &Key, path: &Path) -> Result<Decision, StoreError> {
        match self {
            Self::Any => Ok(Decision::Change),
            Self::Judge(judge) => {
                let present = read_file(path).map_err(|error| of_key(key, error))?;
                judge(present.as_deref())
            }
        }
    }
}

/// A file's content; `None` when there is no file. Replacing is one step, so a read needs no lock.
pub(super) fn read_file(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(body) => Ok(Some(body)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(StoreError::io(FileOperation::Read, path, error)),
    }
}

fn is_absence(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn replacing(path: &Path, error: io::Error) -> StoreError {
    StoreError::io(FileOperation::Replace, path, error)
}

/// Says that the key is to blame where the file system finds its path too long.
fn of_key(key: &Key, error: StoreError) -> StoreError {
    match &error {
        StoreError::Io { cause, .. } if cause.kind() == io::ErrorKind::InvalidFilename => {
            StoreError::InvalidKey { key: key.to_string(), fault: KeyFault::PathTooLong }
        }
        _ => error,
    }
}

/// Opened while the lock is held, since an emptied folder may be removed once it is not.
fn open_folders(paths: &[PathBuf]) -> Result<Vec<(File, &Path)>, StoreError> {
    let open = |path: &PathBuf| {
        File::open(path).map_err(|error| StoreError::io(FileOperation::Sync, path, error))
    };
    paths.iter().map(|path| Ok((open(path)?, path.as_path()))).collect()
}
