use super::hash::PackageHash;
use super::layout;
use super::lock::Locks;
use super::platform::Platform;
use super::version::Version;
use crate::plugin::RunningPlugin;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// The packages installed for one working directory, as a lock file selects them.
#[derive(Clone, Debug)]
pub struct ProviderPackages {
    /// Where packages are: `.terraform/providers`.
    pub directory: PathBuf,
    /// The platform whose packages to use.
    pub platform: Platform,
    /// The selected versions.
    pub locks: Locks,
    /// Providers under development: neither versions nor checksums matter.
    pub dev_overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// Providers that somebody else has started: nothing is installed of them.
    pub running: BTreeMap<ProviderAddress, RunningPlugin>,
}

/// An installed package that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its program.
    pub program: PathBuf,
    /// What it is: version and checksum. `None` for one under development.
    pub verified: Option<(Version, PackageHash)>,
}

/// A package may not be run.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// It is not locked, or not where it should be.
    #[error("it is not installed")]
    NotInstalled,
    /// It is not the package that was locked.
    #[error("version {version} matches none of the checksums in the dependency lock file")]
    ChecksumMismatch {
        /// The locked version.
        version: Version,
    },
    /// It cannot be read.
    #[error("its package cannot be read: {0}")]
    Read(#[from] std::io::Error),
}

impl ProviderPackages {
    /// Whether a provider is used that is neither locked nor installed.
    pub fn is_under_development(&self, provider: &ProviderAddress) -> bool {
        self.dev_overrides.contains_key(provider) || self.running.contains_key(provider)
    }

    /// Whether a provider's package is where it should be. Whether it is the right one is for
    /// [`ProviderPackages::verified`] to say.
    pub fn is_present(&self, provider: &ProviderAddress) -> bool {
        if provider.is_builtin() || self.is_under_development(provider) {
            return true;
        }
        self.locks.0.get(provider).is_some_and(|lock| {
            layout::package_directory(&self.directory, provider, &lock.version, &self.platform)
                .is_dir()
        })
    }

    /// Finds a provider's package and verifies it. Reads all of it: not to be called for each
    /// start, nor on a thread that must not wait.
    ///
    /// # Errors
    /// Where it is not there, not the locked one, or cannot be read.
    pub fn verified(&self, provider: &ProviderAddress) -> Result<Package, PackageError> {
        if let Some(directory) = self.dev_overrides.get(provider) {
            let program = layout::executable(directory, provider)?;
            return Ok(Package { program, verified: None });
        }
        let lock = self.locks.0.get(provider).ok_or(PackageError::NotInstalled)?;
        let directory =
            layout::package_directory(&self.directory, provider, &lock.version, &self.platform);
        if !directory.is_dir() {
            return Err(PackageError::NotInstalled);
        }
        let hash = verify(&directory, &lock.version, lock.hashes.iter())?;
        let program = layout::executable(&directory, provider)?;
        Ok(Package { program, verified: Some((lock.version.clone(), hash)) })
    }
}

fn verify<'h>(
    directory: &Path,
    version: &Version,
    mut locked: impl Iterator<Item = &'h PackageHash>,
) -> Result<PackageHash, PackageError> {
    let hash = PackageHash::of_directory(directory)?;
    match locked.any(|h| *h == hash) {
        true => Ok(hash),
        false => Err(PackageError::ChecksumMismatch { version: version.clone() }),
    }
}
