//! A bundle: a repository's files at one commit, in one archive that its SHA-256 addresses.
//!
//! [`BundleFiles::from_archive`] believes nothing of what it unpacks, since anybody who may open a pull request writes it:
//! sizes and numbers are bounded while they are read, no path leaves the folder, and links are resolved by
//! name among the archive's own files.

mod archive;
mod folder;
mod links;

pub use archive::{ArchiveLayout, Bounds};
pub use folder::BundleFolder;
pub(crate) use folder::folder_files;

use bytes::Bytes;
use std::collections::BTreeMap;
use std::io;

/// A repository's files, by path with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleFiles {
    files: BTreeMap<String, BundleFile>,
    left_out: Vec<String>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// What it holds.
    pub content: Bytes,
    /// Whether it may be run: scripts of `external` data sources and provisioners are.
    pub executable: bool,
}

/// An archive cannot become a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is no archive, or a damaged one.
    #[error("the archive cannot be read: {0}; it has to be a tar archive, compressed with gzip")]
    Damaged(#[source] io::Error),
    /// It is no zip archive, or a damaged one.
    #[error("the archive cannot be read: {0}; it has to be a zip archive")]
    DamagedZip(#[source] io::Error),
    /// It holds too much.
    #[error(
        "more than {limit} {unit}, unpacked, are refused, which protects memory and disk; keep what is no configuration out of the \
         repository, the archive or the folder"
    )]
    TooLarge {
        /// The bound.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// A path leads elsewhere.
    #[error(
        "the archive is refused: its entry {path:?} {problem}, so that unpacking it could write elsewhere or read what is \
         not in it"
    )]
    Path {
        /// As the archive has it.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Files cannot be written or read.
    #[error("{path}: {source}")]
    Files {
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl BundleFiles {
    /// The files, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BundleFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// One file.
    pub fn get(&self, path: &str) -> Option<&BundleFile> {
        self.files.get(path)
    }

    /// Takes other files in, in place of those with the same path.
    pub fn extend(&mut self, others: impl IntoIterator<Item = (String, BundleFile)>) {
        self.files.extend(others);
    }

    /// Links that lead to no file of the archive. A configuration that reads one misses it.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

impl<P: Into<String>, C: Into<Bytes>> FromIterator<(P, C)> for BundleFiles {
    fn from_iter<I: IntoIterator<Item = (P, C)>>(files: I) -> BundleFiles {
        let file = |content: C| BundleFile { content: content.into(), executable: false };
        let files = files.into_iter().map(|(path, content)| (path.into(), file(content)));
        BundleFiles { files: files.collect(), left_out: Vec::new() }
    }
}
