//! Mirrors in a directory: packed packages, and the indexes with which a web server makes a network mirror of them.

use super::error::InstallError;
use super::event::Authentication;
use super::hash::PackageHash;
use super::installer::Installer;
use super::layout;
use super::placing::{blocking, fetch, not_fetched};
use super::platform::Platform;
use super::source::{Expected, PackageLocation};
use super::version::{Version, VersionConstraints};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

impl Installer {
    /// The newest version that will do.
    ///
    /// # Errors
    /// Where there is none, or nobody can be asked.
    pub async fn newest(
        &self,
        provider: &ProviderAddress,
        constraints: &VersionConstraints,
    ) -> Result<Version, InstallError> {
        let available = self.available(provider).await?;
        let newest = constraints.newest(&available.versions).cloned();
        newest.ok_or_else(|| super::installer::no_version(provider, constraints, &available))
    }

    /// Puts the archive of a version into a mirror, in place of what is there.
    ///
    /// # Errors
    /// Where it cannot be fetched, or is not what its source has announced: then the mirror stays as it is.
    pub async fn mirror_package(
        &self,
        mirror: &Path,
        provider: &ProviderAddress,
        version: &Version,
    ) -> Result<Authentication, InstallError> {
        let files = |path: &Path, source| InstallError::Files {
            provider: provider.clone(),
            path: path.display().to_string(),
            source,
        };
        let directory = layout::provider_directory(mirror, provider);
        std::fs::create_dir_all(&directory).map_err(|error| files(&directory, error))?;
        let staging =
            tempfile::Builder::new().prefix(".").suffix(".partial").tempfile_in(&directory);
        let staging = staging.map_err(|error| files(&directory, error))?;
        let location = self.locate(provider, version).await?;
        let expected = match location {
            PackageLocation::Remote { url, expected } => {
                let fetched = fetch(self.network.as_ref(), &url, staging.path(), self.limits).await;
                fetched
                    .map_err(|failure| not_fetched(provider, version, staging.path(), failure))?;
                expected
            }
            PackageLocation::Packed(archive) => {
                std::fs::copy(&archive, staging.path()).map_err(|error| files(&archive, error))?;
                Expected::Anything
            }
            PackageLocation::Unpacked(package) => {
                let error = io::Error::other("it is not packed, and only archives are mirrored");
                return Err(files(&package, error));
            }
        };
        let archive = staging.path().to_owned();
        let hashes = blocking(move || {
            Ok([PackageHash::of_archive_bytes(&archive)?, PackageHash::of_archive(&archive)?])
        });
        let [packed, unpacked] = hashes.await.map_err(|error| files(staging.path(), error))?;
        let wrong = |got: PackageHash, expected| InstallError::WrongPackage {
            provider: provider.clone(),
            version: Box::new(version.clone()),
            got: Box::new(got),
            expected,
        };
        let authentication = match expected {
            Expected::Signed { archive, signer, .. } => match archive == packed {
                true => Authentication::Signed(signer),
                false => return Err(wrong(packed, vec![archive])),
            },
            Expected::AnyOf(hashes) => match hashes.contains(&packed) || hashes.contains(&unpacked)
            {
                true => Authentication::VerifiedChecksum,
                false => return Err(wrong(packed, hashes)),
            },
            Expected::Anything => Authentication::Unauthenticated,
        };
        let target = directory.join(layout::archive_name(provider, version, &self.platform));
        // So that a web server can read it.
        let readable = Permissions::from_mode(0o644);
        staging
            .as_file()
            .set_permissions(readable)
            .and_then(|()| staging.persist(&target).map_err(|error| error.error))
            .map_err(|error| files(&target, error))?;
        Ok(authentication)
    }
}

/// Writes the indexes of all packed packages in a mirror.
///
/// # Errors
/// The place, and why it cannot be read or written.
pub async fn write_mirror_indexes(mirror: &Path) -> Result<(), (PathBuf, io::Error)> {
    let (mirror, place) = (mirror.to_owned(), mirror.to_owned());
    let written = blocking(move || {
        let hosts = directories(&mirror)?;
        for host in &hosts {
            for namespace in &directories(host)? {
                for provider in &directories(namespace)? {
                    index(&mirror, provider)?;
                }
            }
        }
        Ok(())
    });
    written.await.map_err(|error| (place, error))
}

fn directories(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(parent)?.collect::<io::Result<Vec<_>>>()?;
    let mut directories: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    directories.retain(|path| path.is_dir());
    directories.sort();
    Ok(directories)
}

/// Writes the indexes of one provider.
fn index(mirror: &Path, directory: &Path) -> io::Result<()> {
    let relative = directory.strip_prefix(mirror).map_err(io::Error::other)?;
    // What is not a provider's directory belongs to somebody else.
    let Some(Ok(provider)) = relative.to_str().map(str::parse::<ProviderAddress>) else {
        return Ok(());
    };
    let mut archives = BTreeMap::<Version, BTreeMap<Platform, String>>::new();
    for entry in std::fs::read_dir(directory)? {
        let name = entry?.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some((version, platform)) = layout::of_archive_name(name, &provider) {
            archives.entry(version).or_default().insert(platform, name.to_owned());
        }
    }
    if archives.is_empty() {
        return Ok(());
    }
    let versions: Map<String, Value> =
        archives.keys().map(|version| (version.to_string(), json!({}))).collect();
    write(&directory.join("index.json"), &json!({ "versions": versions }))?;
    for (version, platforms) in archives {
        let mut entries = Map::new();
        for (platform, name) in platforms {
            let hash = PackageHash::of_archive(&directory.join(&name))?;
            let entry = json!({ "hashes": [hash.to_string()], "url": name });
            entries.insert(platform.to_string(), entry);
        }
        write(&directory.join(format!("{version}.json")), &json!({ "archives": entries }))?;
    }
    Ok(())
}

/// Replaces a file whole, since somebody may be reading it.
fn write(path: &Path, content: &Value) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    let mut staging = tempfile::Builder::new()
        .prefix(".")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(parent)?;
    staging.write_all(serde_json::to_string_pretty(content)?.as_bytes())?;
    staging.persist(path).map(|_| ()).map_err(|error| error.error)
}
