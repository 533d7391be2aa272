//! Directories in which packages are made whole, beside their places. They go with what is left in them: at once, or where their
//! process was killed, when the next one begins.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// What their names begin with. No version and no platform is named so.
const PREFIX: &str = ".partial-";
/// Where nothing can be locked, nobody works for so long.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A directory that is locked while it is in use: one that can be locked has lost its process.
pub(super) struct Staging {
    directory: TempDir,
    /// Holds the lock.
    _lock: File,
}

impl Staging {
    /// A directory in `parent`, which is made where it is not there. What dead processes have left there goes.
    ///
    /// # Errors
    /// Where nothing can be made there.
    pub(super) fn new_in(parent: &Path) -> io::Result<Staging> {
        fs::create_dir_all(parent)?;
        sweep(parent);
        loop {
            let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            // Between being made and being locked it may have been taken for abandoned.
            let lock = match File::open(directory.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let locked = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            if locked && directory.path().is_dir() {
                return Ok(Staging { directory, _lock: lock });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what dead processes have left.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(lock) = File::open(entry.path()) else { continue };
        let abandoned = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => {
                let modified = entry.metadata().and_then(|metadata| metadata.modified());
                let age = modified.ok().and_then(|modified| modified.elapsed().ok());
                age.is_some_and(|age| age > ABANDONED)
            }
        };
        if abandoned {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
