use super::version::Version;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// An operating system and architecture, in the names of provider packages: `linux_amd64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform(String);

impl Platform {
    /// The platform that this program was built for.
    pub fn current() -> Platform {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Platform(format!("{os}_{architecture}"))
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where the package of one version lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageLocation {
    /// A directory with the package's files.
    Unpacked(PathBuf),
    /// A zip archive of them.
    Packed(PathBuf),
}

/// The directory of a provider below a mirror's root, or below `.terraform/providers`.
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

/// All versions of a provider that a mirror has for a platform. What does not look like a package
/// is passed over; of a version that is there packed and unpacked, the unpacked one counts.
pub(super) fn packages(
    root: &Path,
    provider: &ProviderAddress,
    platform: &Platform,
) -> io::Result<BTreeMap<Version, PackageLocation>> {
    let mut found = BTreeMap::new();
    let entries = match std::fs::read_dir(provider_directory(root, provider)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        if path.is_dir() {
            let package = path.join(platform.to_string());
            if let Ok(version) = name.parse()
                && package.is_dir()
            {
                found.insert(version, PackageLocation::Unpacked(package));
            }
        } else if let Some(version) = packed_version(name, provider, platform) {
            found.entry(version).or_insert_with(|| PackageLocation::Packed(path.clone()));
        }
    }
    Ok(found)
}

/// The version in `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
fn packed_version(name: &str, provider: &ProviderAddress, platform: &Platform) -> Option<Version> {
    name.to_ascii_lowercase()
        .strip_prefix(&format!("terraform-provider-{}_", provider.ty))?
        .strip_suffix(&format!("_{platform}.zip"))?
        .parse()
        .ok()
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
