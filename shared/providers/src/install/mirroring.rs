//! Mirrors in a directory: packed packages, and the indexes with which a web server makes a network mirror of them.

use super::error::InstallError;
use super::event::Authentication;
use super::hash::PackageHash;
use super::installer::Installer;
use super::layout;
use super::placing::{blocking, fetch, not_fetched};
use super::platform::Platform;
use super::source::{Expected, PackageLocation};
use super::staging::Staging;
use super::version::{Version, VersionConstraints};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
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
        let location = self.locate(provider, version).await?;
        let parent = directory.clone();
        let staging = blocking(move || Staging::new_in(&parent)).await;
        let staging = staging.map_err(|error| files(&directory, error))?;
        let archive = staging.path().join("archive.zip");
        let expected = match location {
            PackageLocation::Remote { url, expected } => {
                let fetched = fetch(self.network.as_ref(), &url, &archive, self.limits).await;
                fetched.map_err(|failure| not_fetched(provider, version, &archive, failure))?;
                expected
            }
            PackageLocation::Packed(packed) => {
                let (from, to) = (packed.clone(), archive.clone());
                // Not with its permissions: a web server is to read it.
                let copied =
                    blocking(move || io::copy(&mut File::open(from)?, &mut File::create(to)?));
                let copied = copied.await;
                copied.map_err(|error| files(&packed, error))?;
                Expected::Anything
            }
            PackageLocation::Unpacked(package) => {
                let error = io::Error::other("it is not packed, and only archives are mirrored");
                return Err(files(&package, error));
            }
        };
        let hash = |of: fn(&Path) -> io::Result<PackageHash>| {
            let file = archive.clone();
            blocking(move || of(&file))
        };
        let unreadable = |error| files(&archive, error);
        let packed = hash(PackageHash::of_archive_bytes).await.map_err(unreadable)?;
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
            Expected::AnyOf(hashes) => {
                let unpacked = hash(PackageHash::of_archive).await.map_err(unreadable)?;
                match hashes.contains(&packed) || hashes.contains(&unpacked) {
                    true => Authentication::VerifiedChecksum,
                    false => return Err(wrong(packed, hashes)),
                }
            }
            Expected::Anything => Authentication::Unauthenticated,
        };
        let target = directory.join(layout::archive_name(provider, version, &self.platform));
        std::fs::rename(&archive, &target).map_err(|error| files(&target, error))?;
        Ok(authentication)
    }
}

/// What a mirror's indexes are not complete for: a file or directory, and why it cannot be read or written.
type Unindexed = (PathBuf, io::Error);

/// Writes the indexes of all packed packages in a mirror.
///
/// # Errors
/// The file or directory that cannot be read or written, and why.
pub async fn write_mirror_indexes(mirror: &Path) -> Result<(), (PathBuf, io::Error)> {
    let (mirror, place) = (mirror.to_owned(), mirror.to_owned());
    let written = tokio::task::spawn_blocking(move || {
        for host in &directories(&mirror)? {
            for namespace in &directories(host)? {
                for provider in &directories(namespace)? {
                    index(&mirror, provider)?;
                }
            }
        }
        Ok(())
    });
    written.await.unwrap_or_else(|error| Err((place, io::Error::other(error))))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> Unindexed {
    let path = path.to_owned();
    |error| (path, error)
}

fn directories(parent: &Path) -> Result<Vec<PathBuf>, Unindexed> {
    let entries = std::fs::read_dir(parent).and_then(|all| all.collect::<io::Result<Vec<_>>>());
    let entries = entries.map_err(at(parent))?;
    let mut directories: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    directories.retain(|path| path.is_dir());
    directories.sort();
    Ok(directories)
}

/// Writes the indexes of one provider.
fn index(mirror: &Path, directory: &Path) -> Result<(), Unindexed> {
    let relative = directory.strip_prefix(mirror).ok().and_then(Path::to_str);
    // What is not a provider's directory belongs to somebody else.
    let Some(Ok(provider)) = relative.map(str::parse::<ProviderAddress>) else {
        return Ok(());
    };
    let mut archives = BTreeMap::<Version, BTreeMap<Platform, String>>::new();
    for entry in std::fs::read_dir(directory).map_err(at(directory))? {
        let name = entry.map_err(at(directory))?.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some((version, platform)) = layout::of_archive_name(name, &provider) {
            archives.entry(version).or_default().insert(platform, name.to_owned());
        }
    }
    if archives.is_empty() {
        return Ok(());
    }
    let staging = Staging::new_in(directory).map_err(at(directory))?;
    // Each file is replaced whole, since somebody may be reading it.
    let write = |name: &str, content: &Value| {
        let (staged, target) = (staging.path().join(name), directory.join(name));
        let written = serde_json::to_string_pretty(content).map_err(io::Error::from);
        let written = written.and_then(|text| std::fs::write(&staged, text));
        written.and_then(|()| std::fs::rename(&staged, &target)).map_err(at(&target))
    };
    let versions: Map<String, Value> =
        archives.keys().map(|version| (version.to_string(), json!({}))).collect();
    write("index.json", &json!({ "versions": versions }))?;
    for (version, platforms) in archives {
        let mut entries = Map::new();
        for (platform, name) in platforms {
            let archive = directory.join(&name);
            let hash = PackageHash::of_archive(&archive).map_err(at(&archive))?;
            let entry = json!({ "hashes": [hash.to_string()], "url": name });
            entries.insert(platform.to_string(), entry);
        }
        write(&format!("{version}.json"), &json!({ "archives": entries }))?;
    }
    Ok(())
}
