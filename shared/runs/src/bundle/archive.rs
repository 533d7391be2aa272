//! Archives in and out.

use super::links::{Link, follow};
use super::{BundleError, BundleFile, BundleFiles};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use tar::{Archive, Entry, EntryType, Header};
use zip::ZipArchive;
use zip::result::ZipError;

/// Folders that are no configuration, or that a machine made for itself.
const NOT_BUNDLED: [&str; 3] = [".git", ".terraform", ".plumb"];

/// How an archive's paths begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveLayout {
    /// At the repository's top.
    Plain,
    /// With one folder around everything, as GitHub's and GitLab's archives have it.
    OneFolder,
    /// As it was stored: with the modules that were installed.
    Stored,
}

/// What may be unpacked.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of all entries with their headers, unpacked.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
    /// Bytes of one path.
    pub path: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { bytes: 256 << 20, entries: 50_000, path: 1024 }
    }
}

/// Fails once more was read than is allowed, so that a small archive cannot unpack to a large one.
struct Bounded<R> {
    inner: R,
    left: u64,
}

/// Told apart from a damaged archive by its type.
#[derive(Debug, thiserror::Error)]
#[error("more than is allowed")]
struct Exceeded;

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, Exceeded))?;
        Ok(read)
    }
}

fn is_exceeded(error: &io::Error) -> bool {
    let exceeded = error.get_ref().is_some_and(|inner| inner.is::<Exceeded>());
    exceeded || error.kind() == io::ErrorKind::FileTooLarge
}

impl BundleFiles {
    /// Unpacks a `.tar.gz` in memory.
    ///
    /// # Errors
    /// Where it is damaged, too large, or leads out of itself.
    pub fn from_archive(
        archive: impl Read,
        layout: ArchiveLayout,
        bounds: Bounds,
    ) -> Result<BundleFiles, BundleError> {
        let failed = |error: io::Error| match is_exceeded(&error) {
            true => BundleError::TooLarge { limit: bounds.bytes, unit: "bytes" },
            false => BundleError::Damaged(error),
        };
        let unpacked = Bounded { inner: MultiGzDecoder::new(archive), left: bounds.bytes };
        let mut archive = Archive::new(unpacked);
        let (mut files, mut links) = (BTreeMap::new(), BTreeMap::new());
        let mut entries = 0;
        for entry in archive.entries().map_err(failed)? {
            let mut entry = entry.map_err(failed)?;
            entries += 1;
            if entries > bounds.entries {
                return Err(BundleError::TooLarge { limit: bounds.entries, unit: "entries" });
            }
            let kind = entry.header().entry_type();
            if kind == EntryType::XGlobalHeader {
                continue;
            }
            let Some(path) = path(&entry.path_bytes(), layout, bounds)? else { continue };
            let refused = |problem| BundleError::Path { path: path.clone(), problem };
            if files.contains_key(&path) || links.contains_key(&path) {
                return Err(refused("is there twice"));
            }
            match kind {
                EntryType::Directory => {}
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let executable = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
                    let mut content = Vec::new();
                    entry.read_to_end(&mut content).map_err(failed)?;
                    files.insert(path, BundleFile { content: content.into(), executable });
                }
                EntryType::Symlink | EntryType::Link => {
                    let target = target(&entry, layout, kind, bounds)?;
                    links.insert(path, target);
                }
                _ => return Err(refused("is neither a file, a folder nor a link")),
            }
        }
        let left_out = follow(&mut files, &links, bounds)?;
        no_file_is_a_folder(&files)?;
        Ok(BundleFiles { files, left_out })
    }

    /// Unpacks a `.zip` in memory.
    ///
    /// # Errors
    /// Where it is damaged, too large, or leads out of itself.
    pub fn from_zip(archive: &[u8], bounds: Bounds) -> Result<BundleFiles, BundleError> {
        let damaged = |error: ZipError| BundleError::DamagedZip(io::Error::other(error));
        let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(damaged)?;
        if archive.len() as u64 > bounds.entries {
            return Err(BundleError::TooLarge { limit: bounds.entries, unit: "entries" });
        }
        let (mut files, mut links) = (BTreeMap::new(), BTreeMap::new());
        let mut left = bounds.bytes;
        for at in 0..archive.len() {
            let entry = archive.by_index(at).map_err(damaged)?;
            let Some(path) = path(entry.name_raw(), ArchiveLayout::Plain, bounds)? else {
                continue;
            };
            if entry.is_dir() {
                continue;
            }
            if files.contains_key(&path) || links.contains_key(&path) {
                return Err(BundleError::Path { path, problem: "is there twice" });
            }
            let executable = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
            let is_link = entry.is_symlink();
            let mut content = Vec::new();
            let read = Bounded { inner: entry, left }.read_to_end(&mut content);
            read.map_err(|error| match is_exceeded(&error) {
                true => BundleError::TooLarge { limit: bounds.bytes, unit: "bytes" },
                false => BundleError::DamagedZip(error),
            })?;
            left = left.saturating_sub(content.len() as u64);
            match is_link {
                true => {
                    let target = String::from_utf8(content);
                    links.insert(path, target.map_or(Link::Nowhere, Link::Relative));
                }
                false => {
                    files.insert(path, BundleFile { content: content.into(), executable });
                }
            }
        }
        let left_out = follow(&mut files, &links, bounds)?;
        no_file_is_a_folder(&files)?;
        Ok(BundleFiles { files, left_out })
    }

    /// Files with these paths, which are believed no more than an archive's.
    ///
    /// # Errors
    /// Where there are too many, or a path leads elsewhere.
    pub fn from_entries(
        entries: impl IntoIterator<Item = (String, Bytes)>,
        bounds: Bounds,
    ) -> Result<BundleFiles, BundleError> {
        let mut files = BTreeMap::new();
        for (name, content) in entries {
            let Some(path) = path(name.as_bytes(), ArchiveLayout::Plain, bounds)? else { continue };
            files.insert(path, BundleFile { content, executable: false });
            if files.len() as u64 > bounds.entries {
                return Err(BundleError::TooLarge { limit: bounds.entries, unit: "entries" });
            }
        }
        no_file_is_a_folder(&files)?;
        Ok(BundleFiles { files, left_out: Vec::new() })
    }

    /// The archive that is stored: the same bytes for the same files, whoever made them and when.
    ///
    /// # Errors
    /// Where a file cannot be packed.
    pub fn to_archive(&self) -> Result<Bytes, BundleError> {
        let gzip: GzEncoder<Vec<u8>> =
            GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
        let mut archive = tar::Builder::new(gzip);
        for (path, file) in &self.files {
            let mut header = Header::new_ustar();
            header.set_entry_type(EntryType::Regular);
            header.set_size(file.content.len() as u64);
            header.set_mode(if file.executable { 0o755 } else { 0o644 });
            header.set_mtime(0);
            archive
                .append_data(&mut header, path, &*file.content)
                .map_err(|source| BundleError::Files { path: path.clone(), source })?;
        }
        let gzip = archive.into_inner().map_err(BundleError::Damaged)?;
        Ok(gzip.finish().map_err(BundleError::Damaged)?.into())
    }
}

/// A path below the repository's top; `None` for the top itself and what is not bundled.
fn path(
    bytes: &[u8],
    layout: ArchiveLayout,
    bounds: Bounds,
) -> Result<Option<String>, BundleError> {
    let text = String::from_utf8_lossy(bytes);
    let refused = |problem| BundleError::Path { path: text.clone().into_owned(), problem };
    if std::str::from_utf8(bytes).is_err() {
        return Err(refused("is no UTF-8"));
    }
    if text.len() > bounds.path {
        return Err(refused("is longer than paths may be"));
    }
    if text.starts_with('/') {
        return Err(refused("is absolute"));
    }
    if text.contains(['\\', '\0']) {
        return Err(refused("has a backslash or a null in it"));
    }
    let mut parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(refused("goes upwards"));
    }
    if layout == ArchiveLayout::OneFolder && !parts.is_empty() {
        parts.remove(0);
    }
    let bundled =
        layout == ArchiveLayout::Stored || !parts.iter().any(|part| NOT_BUNDLED.contains(part));
    Ok((bundled && !parts.is_empty()).then(|| parts.join("/")))
}

fn target<R: Read>(
    entry: &Entry<'_, R>,
    layout: ArchiveLayout,
    kind: EntryType,
    bounds: Bounds,
) -> Result<Link, BundleError> {
    let name = entry.link_name_bytes().unwrap_or_default();
    // A hard link names an entry, a symbolic one a path from where it stands.
    Ok(match kind {
        EntryType::Link => match path(&name, layout, bounds)? {
            Some(path) => Link::Entry(path),
            None => Link::Nowhere,
        },
        _ => match String::from_utf8(name.into_owned()) {
            Ok(text) => Link::Relative(text),
            Err(_) => Link::Nowhere,
        },
    })
}

/// A file cannot also be a folder that others are in.
fn no_file_is_a_folder(files: &BTreeMap<String, BundleFile>) -> Result<(), BundleError> {
    for path in files.keys() {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        if let Some(folder) = folders.into_iter().find(|folder| files.contains_key(*folder)) {
            let problem = "is a file, and others are in it as if it were a folder";
            return Err(BundleError::Path { path: folder.to_owned(), problem });
        }
    }
    Ok(())
}
