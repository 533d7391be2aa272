//! Folders made durable: one sync serves all whose changes it covers.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A folder, whatever it is called by now.
type Folder = (u64, u64);

/// The syncs of folders under way in this process.
#[derive(Debug, Default)]
pub(super) struct FolderSyncs {
    folders: Mutex<HashMap<Folder, Rounds>>,
    ended: Condvar,
}

/// The syncs of one folder, one after the other.
#[derive(Debug, Default)]
struct Rounds {
    begun: u64,
    succeeded: u64,
    running: bool,
    users: usize,
}

impl FolderSyncs {
    /// When this returns, what the caller has changed in a folder is durable.
    ///
    /// Of several callers, one syncs for those whose changes came before it began. Where it fails, each of the others
    /// syncs for itself and finds out through the file that it opened before.
    pub(super) fn sync(&self, folder: &File) -> io::Result<()> {
        let metadata = folder.metadata()?;
        let id = (metadata.dev(), metadata.ino());
        let mut folders = self.lock();
        let rounds = folders.entry(id).or_default();
        rounds.users += 1;
        // One under way may have looked at the folder before our change.
        let covering = rounds.begun + 1;
        let mut synced = Ok(());
        loop {
            let rounds = folders.entry(id).or_default();
            if rounds.succeeded >= covering {
                break;
            }
            if rounds.running {
                folders = self.ended.wait(folders).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            rounds.running = true;
            rounds.begun += 1;
            let round = rounds.begun;
            drop(folders);
            synced = folder.sync_all();
            folders = self.lock();
            let rounds = folders.entry(id).or_default();
            rounds.running = false;
            if synced.is_ok() {
                rounds.succeeded = round;
            }
            self.ended.notify_all();
            break;
        }
        let rounds = folders.entry(id).or_default();
        rounds.users -= 1;
        if rounds.users == 0 {
            folders.remove(&id);
        }
        synced
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Folder, Rounds>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn all_who_sync_at_once_return_and_nothing_is_kept_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let syncs = Arc::new(FolderSyncs::default());
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        syncs.sync(&File::open(folder.path()).unwrap()).unwrap();
                    }
                });
            }
        });
        assert!(syncs.lock().is_empty());
    }
}
