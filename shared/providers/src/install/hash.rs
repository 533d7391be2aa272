use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A checksum of a provider package, as lock files carry it: `h1:` for a package's files, packed or
/// not, `zh:` for the archive itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PackageHash(String);

/// A text is not a package hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid package hash {0:?}: a scheme, a colon and a value are needed")]
pub struct InvalidHash(String);

impl PackageHash {
    /// `h1:` of an unpacked package. Links are followed, as in the packages that they lead to.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub fn of_directory(directory: &Path) -> io::Result<PackageHash> {
        let root = directory.canonicalize()?;
        let mut files = Vec::new();
        let mut pending = vec![(root, PathBuf::new())];
        while let Some((at, name)) = pending.pop() {
            for entry in std::fs::read_dir(&at)? {
                let entry = entry?;
                let name = name.join(entry.file_name());
                let path = entry.path();
                match std::fs::metadata(&path)?.is_dir() {
                    true if !entry.file_type()?.is_symlink() => pending.push((path, name)),
                    true => {}
                    false => files.push((slashes(&name)?, path)),
                }
            }
        }
        files.sort();
        let digests = files.into_iter().map(|(name, path)| Ok((name, sha256(File::open(path)?)?)));
        h1(digests)
    }

    /// `h1:` of a packed package: that of its files once unpacked.
    ///
    /// # Errors
    /// Where the archive cannot be read.
    pub fn of_archive(archive: &Path) -> io::Result<PackageHash> {
        let mut zip = zip::ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
        let mut names: Vec<String> =
            zip.file_names().filter(|n| !n.ends_with('/')).map(Into::into).collect();
        names.sort();
        h1(names.into_iter().map(|name| {
            let digest = sha256(zip.by_name(&name).map_err(io::Error::other)?)?;
            Ok((name, digest))
        }))
    }

    /// `zh:` of a packed package.
    ///
    /// # Errors
    /// Where the archive cannot be read.
    pub fn of_archive_bytes(archive: &Path) -> io::Result<PackageHash> {
        Ok(PackageHash(format!("zh:{}", sha256(File::open(archive)?)?)))
    }

    /// `zh:` of a packed package with this SHA-256, in hex; `None` where it is none.
    pub fn of_archive_digest(hex: &str) -> Option<PackageHash> {
        let valid = hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit());
        valid.then(|| PackageHash(format!("zh:{}", hex.to_ascii_lowercase())))
    }

    /// Whether it is of the scheme that can be compared with an unpacked package.
    pub fn is_of_files(&self) -> bool {
        self.0.starts_with("h1:")
    }
    /// As lock files carry it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn slashes(name: &Path) -> io::Result<String> {
    let text = name.to_str().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{} is not UTF-8", name.display()))
    })?;
    if text.contains('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a file name has a newline"));
    }
    Ok(text.to_owned())
}

fn sha256(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

fn h1(digests: impl Iterator<Item = io::Result<(String, String)>>) -> io::Result<PackageHash> {
    let mut summary = Sha256::new();
    for item in digests {
        let (name, digest) = item?;
        summary.update(format!("{digest}  {name}\n"));
    }
    Ok(PackageHash(format!("h1:{}", STANDARD.encode(summary.finalize()))))
}

impl FromStr for PackageHash {
    type Err = InvalidHash;
    fn from_str(text: &str) -> Result<PackageHash, InvalidHash> {
        match text.split_once(':') {
            Some((scheme, value)) if !scheme.is_empty() && !value.is_empty() => {
                Ok(PackageHash(text.into()))
            }
            _ => Err(InvalidHash(text.into())),
        }
    }
}

impl fmt::Display for PackageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
