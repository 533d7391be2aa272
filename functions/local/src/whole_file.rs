//! Files that are written whole or not at all, whenever the process dies.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::Builder;

/// Who may read a file.
#[derive(Clone, Copy)]
pub(crate) enum Readers {
    /// Its owner alone: it may hold secrets.
    Owner,
    /// Whoever the user's mask allows.
    Everybody,
    /// Whoever might read and write what was there before.
    Unchanged,
}

/// Writes a file durably, in place of what was there.
pub(crate) fn write(path: &Path, content: &[u8], readers: Readers) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Everybody | Readers::Unchanged => 0o666,
    };
    let mut staged =
        Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    if let Readers::Unchanged = readers {
        staged.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
    }
    staged.write_all(content)?;
    staged.as_file().sync_all()?;
    staged.persist(path)?;
    File::open(folder)?.sync_all()
}
