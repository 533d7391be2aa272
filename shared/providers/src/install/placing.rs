//! A package on its way into a directory: fetched, verified, unpacked beside its place, and renamed into it, so that whenever the
//! process dies there is a whole package or none.

use super::error::{DownloadError, InstallError};
use super::event::Authentication;
use super::hash::PackageHash;
use super::layout;
use super::source::{Expected, Network, PackageLocation};
use super::unpack::{PackageLimits, unpack};
use super::version::Version;
use crate::https::HttpsError;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use values::address::ProviderAddress;

/// What names of directories begin with in which packages are not whole yet. No platform is named so.
const STAGING: &str = ".partial-";
/// After so long nobody works there any more.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A package of one version, and its place.
#[derive(Clone)]
pub(super) struct Placing<'a> {
    pub(super) provider: &'a ProviderAddress,
    pub(super) version: &'a Version,
    /// The package's directory.
    pub(super) target: PathBuf,
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
    /// The checksum of what is in place; `None` where nothing is that could be run.
    pub(super) async fn held(&self) -> Result<Option<PackageHash>, InstallError> {
        if !self.target.is_dir() || layout::executable(&self.target, self.provider).is_err() {
            return Ok(None);
        }
        self.hash_of(self.target.clone()).await.map(Some)
    }

    /// Whether what is in place is one of these packages.
    pub(super) async fn holds_any_of(
        &self,
        hashes: &BTreeSet<PackageHash>,
    ) -> Result<bool, InstallError> {
        // What cannot be read is put in place anew.
        let held = self.held().await.ok().flatten();
        Ok(held.is_some_and(|held| hashes.contains(&held)))
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
                let staging = self.staging()?;
                self.unpacked(&staging, archive, &Expected::Anything, allowed).await
            }
            PackageLocation::Remote { url, expected } => {
                let staging = self.staging()?;
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
        staging: &TempDir,
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
            InstallError::Unpack { provider, version, reason }
        })?;
        let hash = self.hash_of(packed.clone()).await?;
        if let Expected::AnyOf(hashes) = expected
            && !hashes.iter().any(|expected| *expected == hash || *expected == packed_hash)
        {
            return Err(self.wrong(packed_hash, hashes.clone()));
        }
        self.check_locked(allowed, [&hash, &packed_hash])?;
        self.check_program(&packed)?;
        self.replace(&packed, &hash)?;
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
        let source = package.canonicalize().map_err(|error| self.files(package, error))?;
        let staging = self.staging()?;
        let link = staging.path().join("package");
        std::os::unix::fs::symlink(source, &link).map_err(|error| self.files(&link, error))?;
        self.take_away()?;
        std::fs::rename(&link, &self.target).map_err(|error| self.files(&self.target, error))
    }

    /// Renames a whole package into its place.
    fn replace(&self, package: &Path, hash: &PackageHash) -> Result<(), InstallError> {
        let failed = |error| self.files(&self.target, error);
        // So that it can be replaced and removed like any other directory.
        std::fs::set_permissions(package, Permissions::from_mode(0o755)).map_err(failed)?;
        // In a cache another process may have been faster, with the same package, and may be running it.
        if std::fs::rename(package, &self.target).is_ok()
            || PackageHash::of_directory(&self.target).is_ok_and(|there| there == *hash)
        {
            return Ok(());
        }
        self.take_away()?;
        std::fs::rename(package, &self.target).map_err(failed)
    }

    /// Removes what is in place, or the link to it.
    pub(super) fn take_away(&self) -> Result<(), InstallError> {
        let removed = match std::fs::symlink_metadata(&self.target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => Err(error),
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(&self.target),
            Ok(_) => std::fs::remove_file(&self.target),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.files(&self.target, error))
            }
            _ => Ok(()),
        }
    }

    /// A directory beside the place, which goes with what is left in it.
    fn staging(&self) -> Result<TempDir, InstallError> {
        let parent = self.target.parent().unwrap_or(&self.target);
        let made = std::fs::create_dir_all(parent).and_then(|()| {
            sweep(parent);
            tempfile::Builder::new().prefix(STAGING).tempdir_in(parent)
        });
        made.map_err(|error| self.files(parent, error))
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
        let answer = network.services.download(url, None, limits.archive, &mut to).await;
        match answer {
            Ok(answer) if answer.status.is_success() => return Ok(()),
            Ok(answer) => {
                let (mut url, status) = (answer.url, answer.status);
                // It may be signed, and good for whoever reads of it.
                url.set_query(None);
                let url = url.to_string();
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

/// Removes what processes that died have left behind.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let staging = entry.file_name().to_string_lossy().starts_with(STAGING);
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if staging && age.is_some_and(|age| age > ABANDONED) {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Work that waits for the disk, off the runtime's own threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}
