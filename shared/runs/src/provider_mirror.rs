//! Provider packages for functions: fetched from the deployment's mirror by lock file, verified, and kept while there is room.

use providers::install::{
    CliConfig, InstallError, InstallMode, InstallRequest, InstallationKind, InstallationMethod,
    Installer, Locks, PackageLimits, Platform, ProviderPackages, VersionConstraints,
};
use records::{ArtifactStore, Key, StoreError};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// How many times its archive a package takes once it is unpacked, beside the archive: Go programs shrink to a quarter.
const UNPACKED: u64 = 5;

/// Where packages are put.
#[derive(Clone, Debug)]
pub struct PackageFolder {
    /// The folder: it keeps packages from one invocation to the next.
    pub root: PathBuf,
    /// Bytes that may be in it.
    pub room: u64,
}

/// A provider that is locked cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// The mirror cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It has no such package.
    #[error(
        "the mirror {location} has no package {key}; put the archive there that the provider's registry offers for this \
         platform, under exactly that name"
    )]
    Absent {
        /// Where packages are looked for.
        location: String,
        /// The package's key.
        key: String,
    },
    /// The packages would not fit.
    #[error(
        "the locked providers need about {needed} MB unpacked, and the function has {room} MB for them; give it more \
         ephemeral storage (the parameter ProviderStorage), or split the estate"
    )]
    NoRoom {
        /// Megabytes.
        needed: u64,
        /// Megabytes.
        room: u64,
    },
    /// A package is not the one that was locked, or cannot be unpacked.
    #[error(transparent)]
    Install(#[from] Box<InstallError>),
    /// Files cannot be written.
    #[error("{path}: {source}")]
    Files {
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// The key of a package in a mirror.
pub fn package_key(provider: &ProviderAddress, version: &str, platform: &Platform) -> String {
    let ProviderAddress { host, namespace, ty, .. } = provider;
    format!("{host}/{namespace}/{ty}/terraform-provider-{ty}_{version}_{platform}.zip")
}

/// Has every locked package in the folder, and answers where the program of each is found.
///
/// # Errors
/// Where a package is missing, does not fit, or is not the one that was locked.
pub async fn install(
    mirror: &dyn ArtifactStore,
    locks: &Locks,
    folder: &PackageFolder,
) -> Result<ProviderPackages, MirrorError> {
    let platform = Platform::current();
    let packages = ProviderPackages {
        directory: folder.root.join("packages"),
        platform: platform.clone(),
        locks: locks.clone(),
        dev_overrides: BTreeMap::new(),
        running: BTreeMap::new(),
    };
    let missing: Vec<_> =
        locks.0.iter().filter(|(provider, _)| !packages.is_present(provider)).collect();
    if missing.is_empty() {
        return Ok(packages);
    }
    let mut needed = 0;
    for (provider, lock) in &missing {
        let key = package_key(provider, &lock.version.to_string(), &platform);
        let listed = mirror.list(&key).await?;
        let size = listed.iter().find(|entry| entry.key.as_str() == key).map(|entry| entry.size);
        let absent = || MirrorError::Absent { location: mirror.location(), key: key.clone() };
        needed += size.ok_or_else(absent)? * (UNPACKED + 1);
    }
    make_room(&packages.directory, needed, folder.room)?;
    let archives = folder.root.join("archives");
    for (provider, lock) in &missing {
        let key = package_key(provider, &lock.version.to_string(), &platform);
        let absent = || MirrorError::Absent { location: mirror.location(), key: key.clone() };
        let archive = mirror.get(&Key::new(key.as_str())?).await?.ok_or_else(absent)?;
        let path = archives.join(&key);
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, &archive));
        written.map_err(|source| files(&path, source))?;
    }
    let installed = unpack(locks, archives.clone(), packages.directory.clone()).await;
    // Whatever came of it, the archives are no longer needed.
    let _ = std::fs::remove_dir_all(&archives);
    installed.map(|()| packages)
}

async fn unpack(locks: &Locks, archives: PathBuf, directory: PathBuf) -> Result<(), MirrorError> {
    let mirror = InstallationMethod {
        kind: InstallationKind::FilesystemMirror(archives),
        include: Vec::new(),
        exclude: Vec::new(),
    };
    let installer = Installer {
        config: CliConfig { installation: Some(vec![mirror]), ..CliConfig::default() },
        implied_mirrors: Vec::new(),
        directory,
        platform: Platform::current(),
        // Functions install from the deployment's mirror alone.
        network: None,
        limits: PackageLimits::default(),
    };
    let exactly = |(provider, lock): (&ProviderAddress, &providers::install::ProviderLock)| {
        (provider.clone(), VersionConstraints::exactly(&lock.version))
    };
    let requirements = locks.0.iter().map(exactly).collect();
    let request = InstallRequest { requirements: &requirements, locks, mode: InstallMode::Locked };
    match installer.install(request, &mut |_: providers::install::InstallEvent<'_>| {}).await {
        Ok(_) => Ok(()),
        Err(mut errors) => Err(match errors.is_empty() {
            true => files(&installer.directory, io::Error::other("nothing was installed")),
            false => Box::new(errors.swap_remove(0)).into(),
        }),
    }
}

/// Removes all packages where the new ones would not fit beside them.
fn make_room(directory: &Path, needed: u64, room: u64) -> Result<(), MirrorError> {
    if needed > room {
        return Err(MirrorError::NoRoom { needed: needed >> 20, room: room >> 20 });
    }
    let kept = size(directory).map_err(|source| files(directory, source))?;
    if kept + needed > room {
        std::fs::remove_dir_all(directory).map_err(|source| files(directory, source))?;
    }
    Ok(())
}

/// Bytes of all files below a folder.
fn size(directory: &Path) -> io::Result<u64> {
    let mut total = 0;
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let metadata = entry.metadata()?;
            match metadata.is_dir() {
                true => folders.push(entry.path()),
                false => total += metadata.len(),
            }
        }
    }
    Ok(total)
}

fn files(path: &Path, source: io::Error) -> MirrorError {
    MirrorError::Files { path: path.display().to_string(), source }
}
