//! The key that authenticates plans where there is no key service: a file beside the directory store.
//!
//! Whoever can read the file can make plans, so it is its owner's alone (0600), and a file that others
//! can read is refused.

use engine::random::Random;
use engine::saved_plan::HmacKey;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a key.
const LENGTH: usize = 32;

/// A key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// Others can read or write it.
    #[error(
        "the key file {path} can be read or changed by others (mode {mode:o}), so that plans could be forged; run \
         `chmod 600 {path}` if nobody has, and else remove it and plan again"
    )]
    TooOpen {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It does not hold a key.
    #[error(
        "the key file {path} is damaged: it has {found} bytes instead of {LENGTH}; remove it, and plan again: saved plans \
         of the old key can no longer be applied"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Bytes in it; at most one more than a key has.
        found: usize,
    },
    /// The operating system refused.
    #[error("cannot use the key file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// The key in the file, which is made on first use. Of several processes that make it at once, all get
/// the same.
///
/// # Errors
/// Where the file cannot be read or made, holds no key, or is open to others.
pub fn open(path: &Path, random: &dyn Random) -> Result<HmacKey, KeyFileError> {
    let failed = |source| KeyFileError::Io { path: path.to_owned(), source };
    match File::open(path) {
        Ok(file) => read(path, file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(path, random).map_err(failed)?;
            read(path, File::open(path).map_err(failed)?)
        }
        Err(error) => Err(failed(error)),
    }
}

fn read(path: &Path, file: File) -> Result<HmacKey, KeyFileError> {
    let failed = |source| KeyFileError::Io { path: path.to_owned(), source };
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::TooOpen { path: path.to_owned(), mode });
    }
    let mut content = Vec::new();
    file.take(LENGTH as u64 + 1).read_to_end(&mut content).map_err(failed)?;
    match content.try_into() {
        Ok(key) => Ok(HmacKey::new(key)),
        Err(content) => Err(KeyFileError::Damaged { path: path.to_owned(), found: content.len() }),
    }
}

/// Written whole under another name and then linked: nobody sees half a key, and the first link wins.
fn create(path: &Path, random: &dyn Random) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut key = [0; LENGTH];
    random.fill(&mut key);
    let mut suffix = [0; 8];
    random.fill(&mut suffix);
    let staged = path.with_extension(format!("{:016x}", u64::from_be_bytes(suffix)));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&staged)?;
    let linked = file
        .write_all(&key)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::hard_link(&staged, path));
    std::fs::remove_file(&staged)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}
