//! Where packages are: below a mirror's root, a plugin cache, or `.terraform/providers`.

use super::platform::Platform;
use super::version::Version;
use std::io;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// The directory of a provider.
pub(super) fn provider_directory(root: &Path, provider: &ProviderAddress) -> PathBuf {
    root.join(&*provider.host).join(&*provider.namespace).join(&*provider.ty)
}

/// The directory of an unpacked package.
pub(super) fn package_directory(
    root: &Path,
    provider: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> PathBuf {
    provider_directory(root, provider).join(version.to_string()).join(platform.to_string())
}

/// The file name of a packed package.
pub(super) fn archive_name(
    provider: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", provider.ty)
}

/// Version and platform in the file name of a packed package.
pub(super) fn of_archive_name(
    name: &str,
    provider: &ProviderAddress,
) -> Option<(Version, Platform)> {
    let name = name.to_ascii_lowercase();
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", provider.ty))?;
    let rest = rest.strip_suffix(".zip")?;
    let (version, platform) = rest.split_once('_')?;
    Some((version.parse().ok()?, platform.parse().ok()?))
}

/// The program in an unpacked package.
pub(super) fn executable(package: &Path, provider: &ProviderAddress) -> io::Result<PathBuf> {
    let prefix = format!("terraform-provider-{}", provider.ty);
    let mut names: Vec<_> = std::fs::read_dir(package)?.collect::<Result<_, _>>()?;
    names.sort_by_key(std::fs::DirEntry::file_name);
    for entry in names {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|n| n.strip_prefix(&prefix));
        if rest.is_some_and(|r| r.is_empty() || r.starts_with(['_', '.'])) && entry.path().is_file()
        {
            return Ok(entry.path());
        }
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!("{} has no program named {prefix}", package.display()),
    ))
}
