//! Mirrors in a directory.

use super::PackageLocation;
use crate::install::layout::{of_archive_name, package_directory, provider_directory};
use crate::install::platform::Platform;
use crate::install::version::Version;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use values::address::ProviderAddress;

/// All versions of a provider that a mirror has, for whatever platform. What does not look like a package is passed over.
pub(in crate::install) fn versions(
    root: &Path,
    provider: &ProviderAddress,
) -> io::Result<BTreeSet<Version>> {
    let mut found = BTreeSet::new();
    let entries = match std::fs::read_dir(provider_directory(root, provider)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        if path.is_dir() {
            let Ok(version) = name.parse() else { continue };
            let platform = |entry: io::Result<std::fs::DirEntry>| {
                entry.is_ok_and(|entry| {
                    let name = entry.file_name();
                    let platform = name.to_str().and_then(|n| n.parse::<Platform>().ok());
                    platform.is_some() && entry.path().is_dir()
                })
            };
            if std::fs::read_dir(&path)?.any(platform) {
                found.insert(version);
            }
        } else if let Some((version, _)) = of_archive_name(name, provider) {
            found.insert(version);
        }
    }
    Ok(found)
}

/// The package of a version for a platform. Where it is there packed and unpacked, the unpacked one counts.
pub(in crate::install) fn package(
    root: &Path,
    provider: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> io::Result<Option<PackageLocation>> {
    let unpacked = package_directory(root, provider, version, platform);
    if unpacked.is_dir() {
        return Ok(Some(PackageLocation::Unpacked(unpacked)));
    }
    let entries = match std::fs::read_dir(provider_directory(root, provider)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str());
        let found = name.and_then(|name| of_archive_name(name, provider));
        if found.is_some_and(|(v, p)| v == *version && p == *platform) && path.is_file() {
            return Ok(Some(PackageLocation::Packed(path)));
        }
    }
    Ok(None)
}
