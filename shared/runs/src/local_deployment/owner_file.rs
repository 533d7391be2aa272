//! Small files that are their owner's alone.

use engine::random::Random;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a secret or a token, at most.
const LONGEST: u64 = 64 << 10;

/// A file of secrets cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerFileError {
    /// Others can read or change it.
    #[error(
        "{path} can be read or changed by others (mode {mode:o}); run `chmod 600 {path}` if nobody has, and else put another \
         secret there"
    )]
    TooOpen {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Nothing is in it.
    #[error("{path} holds no text of at most {LONGEST} bytes; write the secret into it")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{path} cannot be used: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// The text in a file, without blanks around it; `None` where there is no file.
pub(super) fn read(path: &Path) -> Result<Option<String>, OwnerFileError> {
    let failed = |source| OwnerFileError::Io { path: path.to_owned(), source };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(OwnerFileError::TooOpen { path: path.to_owned(), mode });
    }
    let mut content = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut content).map_err(failed)?;
    let short = content.len() as u64 <= LONGEST;
    let text = String::from_utf8(content).ok().filter(|text| short && !text.trim().is_empty());
    let text = text.ok_or_else(|| OwnerFileError::Empty { path: path.to_owned() })?;
    Ok(Some(text.trim().to_owned()))
}

/// Makes a file, whole or not at all, unless there is one already.
pub(super) fn create(path: &Path, text: &str, random: &dyn Random) -> Result<(), OwnerFileError> {
    let create = || {
        if let Some(folder) = path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut suffix = [0; 8];
        random.fill(&mut suffix);
        let staged = path.with_extension(format!("{:016x}", u64::from_be_bytes(suffix)));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&staged)?;
        let linked = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::hard_link(&staged, path));
        std::fs::remove_file(&staged)?;
        match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    };
    create().map_err(|source| OwnerFileError::Io { path: path.to_owned(), source })
}
