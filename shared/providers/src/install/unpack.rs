//! Archives of packages, unpacked without trust in them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What a package may take, so that a hostile one fills no disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackageLimits {
    /// Bytes of an archive.
    pub archive: u64,
    /// Bytes of its files.
    pub unpacked: u64,
    /// Its files and directories.
    pub entries: usize,
}

impl Default for PackageLimits {
    /// Ten times what the largest package of a public registry takes.
    fn default() -> PackageLimits {
        PackageLimits { archive: 2 << 30, unpacked: 10 << 30, entries: 100_000 }
    }
}

/// An archive was not unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// It is no archive, is cut off, or its content does not match its checksums.
    #[error("the archive cannot be read: {0}")]
    Unreadable(#[from] zip::result::ZipError),
    /// A file in it would be written outside of the package.
    #[error(
        "the archive has an entry named {0:?}, which leads out of the package; nothing of it was kept"
    )]
    Outside(String),
    /// A name in it leads elsewhere, or to a device.
    #[error(
        "the archive has an entry named {0:?} that is neither a file nor a directory, which could lead out of the package; nothing of it was kept"
    )]
    Special(String),
    /// It is larger than any package.
    #[error("the archive unpacks to more than {} files or {} bytes, the most that is taken, so that nobody can fill the disk; nothing of it was kept", .0.entries, .0.unpacked)]
    TooLarge(PackageLimits),
    /// Files cannot be written.
    #[error("{0}")]
    Files(#[from] io::Error),
}

/// Permissions that a file gets: its owner can always read and replace it.
const OWNER: u32 = 0o600;
const PERMISSIONS: u32 = 0o777;
/// Where an archive says nothing of permissions.
const UNKNOWN: u32 = 0o644;

/// Unpacks into a directory that exists and is empty.
///
/// # Errors
/// Where the archive is not one of a package, or too large, or files cannot be written. What was written stays.
pub(super) fn unpack(
    archive: &Path,
    directory: &Path,
    limits: PackageLimits,
) -> Result<(), UnpackError> {
    let mut zip = zip::ZipArchive::new(File::open(archive)?)?;
    if zip.len() > limits.entries {
        return Err(UnpackError::TooLarge(limits));
    }
    let mut room = limits.unpacked;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let name = entry.name().to_owned();
        let path = entry.enclosed_name().filter(|path| path.components().next().is_some());
        let Some(path) = path.filter(|_| !name.contains('\\')) else {
            return Err(UnpackError::Outside(name));
        };
        let path = directory.join(path);
        if entry.is_dir() {
            std::fs::create_dir_all(&path)?;
            continue;
        }
        let mode = entry.unix_mode().unwrap_or(UNKNOWN);
        if !is_regular(mode) {
            return Err(UnpackError::Special(name));
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // A name that occurs twice is an error, not a choice.
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode((mode & PERMISSIONS) | OWNER)
            .open(&path)?;
        // What an archive says of its sizes is not believed.
        let written = io::copy(&mut (&mut entry).take(room + 1), &mut file)?;
        room = room.checked_sub(written).ok_or(UnpackError::TooLarge(limits))?;
        file.flush()?;
    }
    Ok(())
}

/// Whether the type in a mode is that of a file, or not given.
fn is_regular(mode: u32) -> bool {
    matches!(mode & 0o170_000, 0 | 0o100_000)
}
