//! `SHA256SUMS`: the checksums of all archives of a version, as its author has signed them.

use super::SourceError;
use crate::install::hash::PackageHash;
use std::collections::BTreeSet;

/// The checksum of the archive of this name.
///
/// # Errors
/// Where there is none.
pub(super) fn of_archive(document: &[u8], name: &str) -> Result<PackageHash, SourceError> {
    let lines = lines(document);
    let found = lines.into_iter().flatten().find(|(_, file)| *file == name);
    let (digest, _) = found.ok_or_else(|| {
        SourceError::Checksums(format!("checksum list has no SHA-256 hash for {name:?}"))
    })?;
    PackageHash::of_archive_digest(digest).ok_or_else(|| {
        SourceError::Checksums(format!("checksum list has invalid SHA256 hash {digest:?}"))
    })
}

/// The checksums of all archives; none where the document is not such a list.
pub(super) fn all(document: &[u8]) -> BTreeSet<PackageHash> {
    let hashes = lines(document).map(|lines| {
        lines.into_iter().map(|(digest, _)| PackageHash::of_archive_digest(digest)).collect()
    });
    hashes.flatten().unwrap_or_default()
}

/// Digests and names.
fn lines(document: &[u8]) -> Option<Vec<(&str, &str)>> {
    let text = std::str::from_utf8(document).ok()?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .collect()
}
