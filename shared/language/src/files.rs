//! Reading of files, handed in so that the language touches no disk by itself.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// What configuration is read from.
pub trait FileSystem: Send + Sync {
    /// The whole content of a file.
    ///
    /// # Errors
    /// As the underlying system has it.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// The entries of a directory, in no promised order.
    ///
    /// # Errors
    /// As the underlying system has it.
    fn read_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>>;
    /// What a path leads to, symbolic links followed.
    ///
    /// # Errors
    /// As the underlying system has it; `NotFound` where there is nothing.
    fn kind(&self, path: &Path) -> io::Result<FileKind>;
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name, without the directory.
    pub name: OsString,
    /// What it is.
    pub kind: FileKind,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}
