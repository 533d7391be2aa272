//! A package on its way into a directory: fetched, verified, unpacked beside its place, and renamed into it, so that whenever the
//! process dies there is a whole package or none. Work on the disk is done off the runtime's own threads.

use super::error::{DownloadError, InstallError};
use super::event::Authentication;
use super::hash::PackageHash;
use super::layout;
use super::platform::Platform;
use super::source::{Expected, Network, PackageLocation};
use super::staging::Staging;
use super::unpack::{PackageLimits, UnpackError, unpack};
use super::version::Version;
use crate::https::{self, HttpsError};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// A package of one version, and its place.
#[derive(Clone)]
pub(super) struct Placing<'a> {
    pub(super) provider: &'a ProviderAddress,
    pub(super) version: &'a Version,
    /// Below what packages are.
    pub(super) root: &'a Path,
    pub(super) platform: &'a Platform,
    pub(super) limits: PackageLimits,
    pub(super) network: Option<&'a Network>,
}

/// A package that is in its place.
pub(super) struct Placed {
    /// Of its files.
    pub(super) hash: PackageHash,
    /// The archives of all platforms, as their author has signed them.
    pub(super) signed: BTreeSet<PackageHash>,
    pub(super) authentication: Authentication,
}

impl Placing<'_> {
    /// The package's directory.
    pub(super) fn target(&self) -> PathBuf {
        layout::package_directory(self.root, self.provider, self.version, self.platform)
    }

    /// The checksum of what is in place; `None` where nothing is that could be read and run, which is put in place anew.
    pub(super) async fn held(&self) -> Option<PackageHash> {
        let target = self.target();
        if !target.is_dir() || layout::executable(&target, self.provider).is_err() {
            return None;
        }
        self.hash_of(target).await.ok()
    }

    /// Puts a package in place of whatever is there. It has to be what its source has announced, and one of `allowed`, where
    /// there are any.
    pub(super) async fn place(
        &self,
        location: &PackageLocation,
        allowed: &BTreeSet<PackageHash>,
    ) -> Result<Placed, InstallError> {
        match location {
            PackageLocation::Unpacked(directory) => {
                let hash = self.hash_of(directory.clone()).await?;
                self.check_locked(allowed, [&hash])?;
                self.check_program(directory)?;
                self.link(directory).await?;
                let authentication = Authentication::Unauthenticated;
                Ok(Placed { hash, signed: BTreeSet::new(), authentication })
            }
            PackageLocation::Packed(archive) => {
                let staging = self.staging().await?;
                self.unpacked(&staging, archive, &Expected::Anything, allowed).await
            }
            PackageLocation::Remote { url, expected } => {
                let staging = self.staging().await?;
                let archive = staging.path().join("archive.zip");
                let fetched = fetch(self.network, url, &archive, self.limits).await;
                fetched.map_err(|failure| {
                    not_fetched(self.provider, self.version, &archive, failure)
                })?;
                self.unpacked(&staging, &archive, expected, allowed).await
            }
        }
    }

    async fn unpacked(
        &self,
        staging: &Staging,
        archive: &Path,
        expected: &Expected,
        allowed: &BTreeSet<PackageHash>,
    ) -> Result<Placed, InstallError> {
        let (file, packed) = (archive.to_owned(), staging.path().join("package"));
        let packed_hash = blocking(move || PackageHash::of_archive_bytes(&file)).await;
        let packed_hash = packed_hash.map_err(|error| self.files(archive, error))?;
        // Before anything is unpacked, so that only what is signed is.
        if let Expected::Signed { archive, .. } = expected
            && *archive != packed_hash
        {
            return Err(self.wrong(packed_hash, vec![archive.clone()]));
        }
        std::fs::create_dir(&packed).map_err(|error| self.files(&packed, error))?;
        let (from, to, limits) = (archive.to_owned(), packed.clone(), self.limits);
        let unpacked = blocking(move || Ok(unpack(&from, &to, limits))).await;
        unpacked.unwrap_or_else(|error| Err(error.into())).map_err(|reason| {
            let (provider, version) = self.names();
            match reason {
                UnpackError::Files(error) => self.files(&packed, error),
                reason => InstallError::Unpack { provider, version, reason },
            }
        })?;
        let hash = self.hash_of(packed.clone()).await?;
        if let Expected::AnyOf(hashes) = expected
            && !hashes.iter().any(|expected| *expected == hash || *expected == packed_hash)
        {
            return Err(self.wrong(packed_hash, hashes.clone()));
        }
        self.check_locked(allowed, [&hash, &packed_hash])?;
        self.check_program(&packed)?;
        let (target, kept) = (self.target(), hash.clone());
        let replaced = blocking(move || replace(&target, &packed, &kept)).await;
        replaced.map_err(|error| self.files(&self.target(), error))?;
        let (signed, authentication) = match expected {
            Expected::Anything => (BTreeSet::new(), Authentication::Unauthenticated),
            Expected::AnyOf(_) => (BTreeSet::new(), Authentication::VerifiedChecksum),
            Expected::Signed { all, signer, .. } => {
                (all.clone(), Authentication::Signed(signer.clone()))
            }
        };
        Ok(Placed { hash, signed, authentication })
    }

    /// Puts a link to a package in place of whatever is there.
    pub(super) async fn link(&self, package: &Path) -> Result<(), InstallError> {
        let staging = self.staging().await?;
        let (target, package) = (self.target(), package.to_owned());
        let link = staging.path().join("package");
        let linked = blocking(move || {
            std::os::unix::fs::symlink(package.canonicalize()?, &link)?;
            take_away(&target)?;
            target.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::rename(&link, &target)
        });
        linked.await.map_err(|error| self.files(&self.target(), error))
    }

    /// Removes what is in place, or the link to it.
    pub(super) async fn take_away(&self) -> Result<(), InstallError> {
        let target = self.target();
        let removed = blocking(move || take_away(&target)).await;
        removed.map_err(|error| self.files(&self.target(), error))
    }

    async fn staging(&self) -> Result<Staging, InstallError> {
        let directory = layout::provider_directory(self.root, self.provider);
        let parent = directory.clone();
        let staging = blocking(move || Staging::new_in(&parent)).await;
        staging.map_err(|error| self.files(&directory, error))
    }

    async fn hash_of(&self, directory: PathBuf) -> Result<PackageHash, InstallError> {
        let path = directory.clone();
        let hash = blocking(move || PackageHash::of_directory(&directory)).await;
        hash.map_err(|error| self.files(&path, error))
    }

    fn check_locked<const N: usize>(
        &self,
        allowed: &BTreeSet<PackageHash>,
        hashes: [&PackageHash; N],
    ) -> Result<(), InstallError> {
        if allowed.is_empty() || hashes.into_iter().any(|hash| allowed.contains(hash)) {
            return Ok(());
        }
        let (provider, version) = self.names();
        Err(InstallError::ChecksumMismatch { provider, version })
    }

    fn check_program(&self, package: &Path) -> Result<(), InstallError> {
        layout::executable(package, self.provider)
            .map(|_| ())
            .map_err(|error| self.files(package, error))
    }

    fn names(&self) -> (ProviderAddress, Box<Version>) {
        (self.provider.clone(), Box::new(self.version.clone()))
    }
    fn wrong(&self, got: PackageHash, expected: Vec<PackageHash>) -> InstallError {
        let (provider, version) = self.names();
        InstallError::WrongPackage { provider, version, got: Box::new(got), expected }
    }
    fn files(&self, path: &Path, source: io::Error) -> InstallError {
        let (provider, path) = (self.provider.clone(), path.display().to_string());
        InstallError::Files { provider, path, source }
    }
}

/// Why an archive is not on the disk.
pub(super) enum FetchFailure {
    Files(io::Error),
    Download(DownloadError),
}

/// Writes an archive to a file; what breaks off is begun again once. Nothing that authorises goes along: registries and mirrors
/// name addresses on any host.
pub(super) async fn fetch(
    network: Option<&Network>,
    url: &url::Url,
    file: &Path,
    limits: PackageLimits,
) -> Result<(), FetchFailure> {
    let Some(network) = network else {
        return Err(FetchFailure::Files(io::ErrorKind::NetworkUnreachable.into()));
    };
    let mut again = true;
    loop {
        let mut to = tokio::fs::File::create(file).await.map_err(FetchFailure::Files)?;
        let answer = network.services.download(url, limits.archive, &mut to).await;
        match answer {
            Ok(answer) if answer.status.is_success() => return Ok(()),
            Ok(answer) => {
                let (url, status) = (https::shown(&answer.url), answer.status);
                return Err(FetchFailure::Download(DownloadError::Refused { url, status }));
            }
            Err(error) if again && error.may_pass() => again = false,
            Err(HttpsError::Write(error)) => return Err(FetchFailure::Files(error)),
            Err(error) => return Err(FetchFailure::Download(error.into())),
        }
    }
}

/// The error of an archive that is not on the disk.
pub(super) fn not_fetched(
    provider: &ProviderAddress,
    version: &Version,
    archive: &Path,
    failure: FetchFailure,
) -> InstallError {
    let (provider, version) = (provider.clone(), Box::new(version.clone()));
    match failure {
        FetchFailure::Files(source) => {
            InstallError::Files { provider, path: archive.display().to_string(), source }
        }
        FetchFailure::Download(reason) => InstallError::Download { provider, version, reason },
    }
}

/// Renames a whole package into its place.
fn replace(target: &Path, package: &Path, hash: &PackageHash) -> io::Result<()> {
    target.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let mut again = true;
    loop {
        let Err(error) = std::fs::rename(package, target) else { return Ok(()) };
        // In a cache another process may have been faster, with the same package, and may be running it.
        if PackageHash::of_directory(target).is_ok_and(|there| there == *hash) {
            return Ok(());
        }
        if !std::mem::take(&mut again) {
            return Err(error);
        }
        take_away(target)?;
    }
}

/// Removes a package, or the link to it.
fn take_away(target: &Path) -> io::Result<()> {
    let removed = match std::fs::symlink_metadata(target) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(target),
        Ok(_) => std::fs::remove_file(target),
        Err(error) => Err(error),
    };
    removed.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Work that waits for the disk, off the runtime's own threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}
