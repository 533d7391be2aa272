//! The files that configuration is made of, behind a trait: a disk, a bundle, or a test's memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Where configuration, and the files that its functions name, are read from.
///
/// Relative paths are taken against a directory of the implementation's own.
pub trait FileSystem: Send + Sync {
    /// The content of a file.
    ///
    /// # Errors
    /// As of `std::fs::read`; reading a directory is an error too.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// What a directory holds, sorted by name.
    ///
    /// # Errors
    /// As of `std::fs::read_dir`.
    fn read_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>>;
    /// What a path leads to, through symbolic links.
    ///
    /// # Errors
    /// Kind `NotFound` where it leads nowhere.
    fn kind(&self, path: &Path) -> io::Result<FileKind>;
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    /// Its name there.
    pub name: OsString,
    /// What it is; a symbolic link is what it leads to, or [`FileKind::Other`] if that is nothing.
    pub kind: FileKind,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A device, socket, or other thing that is no configuration.
    Other,
}

/// The machine's own file system.
#[derive(Debug, Clone)]
pub struct Disk {
    directory: PathBuf,
}

impl Disk {
    /// Takes relative paths against a directory.
    pub fn new(directory: impl Into<PathBuf>) -> Disk {
        Disk { directory: directory.into() }
    }
    fn resolve(&self, path: &Path) -> PathBuf {
        self.directory.join(path)
    }
}

impl From<std::fs::FileType> for FileKind {
    fn from(ty: std::fs::FileType) -> FileKind {
        match (ty.is_file(), ty.is_dir()) {
            (true, _) => FileKind::File,
            (_, true) => FileKind::Directory,
            _ => FileKind::Other,
        }
    }
}

impl FileSystem for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.resolve(path))
    }
    fn read_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.resolve(path))? {
            let entry = entry?;
            let ty = entry.file_type()?;
            let kind = match ty.is_symlink() {
                true => std::fs::metadata(entry.path())
                    .map_or(FileKind::Other, |m| m.file_type().into()),
                false => ty.into(),
            };
            entries.push(DirectoryEntry { name: entry.file_name(), kind });
        }
        entries.sort();
        Ok(entries)
    }
    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        Ok(std::fs::metadata(self.resolve(path))?.file_type().into())
    }
}

/// Files held in memory: for tests, and for bundles that were unpacked there.
///
/// Paths are compared after `.` and `..` are resolved by name; directories exist where a file below
/// them does.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Memory {
    /// No files.
    pub fn new() -> Memory {
        Memory::default()
    }
    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) {
        self.files.insert(normal(path.as_ref()), content.into());
    }
}

impl<P: AsRef<Path>, C: Into<Vec<u8>>> FromIterator<(P, C)> for Memory {
    fn from_iter<I: IntoIterator<Item = (P, C)>>(files: I) -> Memory {
        let mut memory = Memory::new();
        files.into_iter().for_each(|(path, content)| memory.insert(path, content));
        memory
    }
}

fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

impl FileSystem for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.kind(path)? {
            FileKind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            _ => Ok(self.files.get(&normal(path)).cloned().unwrap_or_default()),
        }
    }
    fn read_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        if self.kind(path)? != FileKind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let path = normal(path);
        let mut entries: Vec<DirectoryEntry> = Vec::new();
        for file in self.files.keys() {
            let Ok(below) = file.strip_prefix(&path) else { continue };
            let mut components = below.components();
            let Some(Component::Normal(name)) = components.next() else { continue };
            let kind = match components.next() {
                None => FileKind::File,
                Some(_) => FileKind::Directory,
            };
            entries.push(DirectoryEntry { name: name.into(), kind });
        }
        entries.sort();
        entries.dedup();
        Ok(entries)
    }
    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let path = normal(path);
        if self.files.contains_key(&path) {
            return Ok(FileKind::File);
        }
        let root = path.as_os_str().is_empty();
        match root || self.files.keys().any(|file| file.starts_with(&path)) {
            true => Ok(FileKind::Directory),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
