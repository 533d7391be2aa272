use super::cli_config::{CliConfig, InstallationKind, InstallationMethod};
use super::hash::PackageHash;
use super::lock::{Locks, ProviderLock};
use super::mirror::{self, PackageLocation, Platform};
use super::version::{Version, VersionConstraints};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// Installs the providers that a configuration requires into a working directory.
#[derive(Clone, Debug)]
pub struct Installer {
    /// Ways to install, and providers under development.
    pub config: CliConfig,
    /// Mirrors to look into where the CLI configuration names no ways, in order.
    pub implied_mirrors: Vec<PathBuf>,
    /// Where packages go: `.terraform/providers`.
    pub directory: PathBuf,
    /// The platform to install for.
    pub platform: Platform,
}

/// What to install.
#[derive(Clone, Copy, Debug)]
pub struct InstallRequest<'a> {
    /// Required providers, and the versions that all modules agree to.
    pub requirements: &'a BTreeMap<ProviderAddress, VersionConstraints>,
    /// What is locked already; the default where there is no lock file.
    pub locks: &'a Locks,
    /// Whether to choose the newest versions whatever is locked.
    pub upgrade: bool,
}

/// A step of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallEvent<'a> {
    /// The provider is part of this program.
    Builtin {
        /// The provider.
        provider: &'a ProviderAddress,
    },
    /// The provider is under development and is not installed.
    DevOverride {
        /// The provider.
        provider: &'a ProviderAddress,
        /// Where it is.
        directory: &'a Path,
    },
    /// The locked version is taken again.
    Reusing {
        /// The provider.
        provider: &'a ProviderAddress,
    },
    /// Versions are looked for.
    Finding {
        /// The provider.
        provider: &'a ProviderAddress,
        /// What will do.
        constraints: &'a VersionConstraints,
    },
    /// The package is there already.
    AlreadyInstalled {
        /// The provider.
        provider: &'a ProviderAddress,
        /// The version.
        version: &'a Version,
    },
    /// The package is put in place.
    Installing {
        /// The provider.
        provider: &'a ProviderAddress,
        /// The version.
        version: &'a Version,
    },
    /// The package is in place.
    Installed {
        /// The provider.
        provider: &'a ProviderAddress,
        /// The version.
        version: &'a Version,
    },
}

/// Hears of an installation's steps.
pub trait InstallObserver {
    /// A step begins, or has ended.
    fn event(&mut self, event: InstallEvent<'_>);
}

impl<F: FnMut(InstallEvent<'_>)> InstallObserver for F {
    fn event(&mut self, event: InstallEvent<'_>) {
        self(event);
    }
}

/// A provider was not installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No version will do.
    #[error(
        "no available version of provider {provider} meets the constraints {constraints:?}: {available}"
    )]
    NoVersion {
        /// The provider.
        provider: ProviderAddress,
        /// What was asked for.
        constraints: String,
        /// What there is, in words.
        available: String,
    },
    /// The lock file rules out what the configuration wants.
    #[error(
        "locked provider {provider} {version} does not match the configured version constraints {constraints:?}: \
         run `plumb init -upgrade` to choose a version anew"
    )]
    LockedOut {
        /// The provider.
        provider: ProviderAddress,
        /// The locked version.
        version: Box<Version>,
        /// What the configuration wants.
        constraints: String,
    },
    /// Only a way that is not supported would find it.
    #[error(
        "provider {provider} would have to be installed {way}, which is not supported: \
         put it into a filesystem_mirror of the CLI configuration"
    )]
    UnsupportedWay {
        /// The provider.
        provider: ProviderAddress,
        /// The way, in words.
        way: String,
    },
    /// The builtin provider has no versions to choose from.
    #[error("provider {provider} is built in: remove its version constraint")]
    BuiltinVersion {
        /// The provider.
        provider: ProviderAddress,
    },
    /// There is no such builtin provider.
    #[error("there is no built-in provider {provider}")]
    UnknownBuiltin {
        /// The provider.
        provider: ProviderAddress,
    },
    /// The package is not the one that was locked.
    #[error(
        "the package of provider {provider} {version} matches none of the checksums in the dependency lock file. \
         It was changed since it was locked, or locked on another platform: `plumb init -upgrade` locks it anew"
    )]
    ChecksumMismatch {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
    },
    /// Files could not be read or written.
    #[error("provider {provider} could not be installed: {path}: {source}")]
    Files {
        /// The provider.
        provider: ProviderAddress,
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// Why nothing was found.
struct Search {
    found: BTreeMap<Version, PackageLocation>,
    unsupported: Option<String>,
}

impl Installer {
    /// Installs what is missing. The answer is the new lock file's content, without providers that
    /// are no longer required.
    ///
    /// # Errors
    /// One for each provider that was not installed; the others are.
    pub fn install(
        &self,
        request: InstallRequest<'_>,
        observer: &mut dyn InstallObserver,
    ) -> Result<Locks, Vec<InstallError>> {
        let mut locks = Locks::default();
        let mut errors = Vec::new();
        for (provider, constraints) in request.requirements {
            match self.install_one(provider, constraints, request, observer) {
                Ok(lock) => {
                    locks.0.extend(lock.map(|l| (provider.clone(), l)));
                }
                Err(e) => errors.push(e),
            }
        }
        match errors.is_empty() {
            true => Ok(locks),
            false => Err(errors),
        }
    }

    fn install_one(
        &self,
        provider: &ProviderAddress,
        constraints: &VersionConstraints,
        request: InstallRequest<'_>,
        observer: &mut dyn InstallObserver,
    ) -> Result<Option<ProviderLock>, InstallError> {
        if provider.is_builtin() {
            return match (*provider == ProviderAddress::builtin(), constraints.is_empty()) {
                (false, _) => Err(InstallError::UnknownBuiltin { provider: provider.clone() }),
                (true, false) => Err(InstallError::BuiltinVersion { provider: provider.clone() }),
                (true, true) => {
                    observer.event(InstallEvent::Builtin { provider });
                    Ok(None)
                }
            };
        }
        if let Some(directory) = self.config.dev_overrides.get(provider) {
            observer.event(InstallEvent::DevOverride { provider, directory });
            // What is locked stays locked for those without the override.
            return Ok(request.locks.0.get(provider).cloned());
        }
        let locked = request.locks.0.get(provider).filter(|_| !request.upgrade);
        let (version, location) = match locked {
            Some(lock) if !constraints.allow(&lock.version) => {
                return Err(InstallError::LockedOut {
                    provider: provider.clone(),
                    version: Box::new(lock.version.clone()),
                    constraints: constraints.to_string(),
                });
            }
            Some(lock) => {
                observer.event(InstallEvent::Reusing { provider });
                let version = lock.version.clone();
                let directory = self.package_directory(provider, &version);
                let kept = directory.is_dir()
                    && PackageHash::of_directory(&directory)
                        .is_ok_and(|hash| lock.hashes.contains(&hash));
                if kept {
                    observer.event(InstallEvent::AlreadyInstalled { provider, version: &version });
                    let lock = ProviderLock { constraints: constraints.clone(), ..lock.clone() };
                    return Ok(Some(lock));
                }
                let only = VersionConstraints::exactly(&version);
                self.choose(provider, &only)?
            }
            None => {
                observer.event(InstallEvent::Finding { provider, constraints });
                self.choose(provider, constraints)?
            }
        };
        observer.event(InstallEvent::Installing { provider, version: &version });
        let hashes = self.put_in_place(provider, &version, &location)?;
        // An upgrade to the same version keeps what other platforms have locked.
        let before = request.locks.0.get(provider).filter(|l| l.version == version);
        let known = before.map(|l| l.hashes.clone()).unwrap_or_default();
        if let Some(lock) = locked
            && !lock.hashes.is_empty()
            && hashes.is_disjoint(&lock.hashes)
        {
            self.take_away(provider, &version);
            let (provider, version) = (provider.clone(), Box::new(version));
            return Err(InstallError::ChecksumMismatch { provider, version });
        }
        observer.event(InstallEvent::Installed { provider, version: &version });
        Ok(Some(ProviderLock {
            version,
            constraints: constraints.clone(),
            hashes: hashes.into_iter().filter(PackageHash::is_of_files).chain(known).collect(),
        }))
    }

    fn package_directory(&self, provider: &ProviderAddress, version: &Version) -> PathBuf {
        mirror::package_directory(&self.directory, provider, version, &self.platform)
    }

    fn choose(
        &self,
        provider: &ProviderAddress,
        constraints: &VersionConstraints,
    ) -> Result<(Version, PackageLocation), InstallError> {
        let Search { found, unsupported } = self.search(provider)?;
        if let Some(version) = constraints.newest(found.keys()) {
            let location = found[version].clone();
            return Ok((version.clone(), location));
        }
        if let Some(way) = unsupported {
            return Err(InstallError::UnsupportedWay { provider: provider.clone(), way });
        }
        let versions: Vec<String> = found.keys().map(Version::to_string).collect();
        Err(InstallError::NoVersion {
            provider: provider.clone(),
            constraints: constraints.to_string(),
            available: match versions.is_empty() {
                true => format!("no mirror has any for {}", self.platform),
                false => format!("there are {}", versions.join(", ")),
            },
        })
    }

    fn search(&self, provider: &ProviderAddress) -> Result<Search, InstallError> {
        let mut search = Search { found: BTreeMap::new(), unsupported: None };
        let implied: Vec<InstallationMethod>;
        let methods = match &self.config.installation {
            Some(methods) => methods,
            None => {
                let mirrors = self.implied_mirrors.iter().cloned();
                let kinds = mirrors.map(InstallationKind::FilesystemMirror);
                implied = kinds
                    .chain([InstallationKind::Direct])
                    .map(|kind| InstallationMethod { kind, include: vec![], exclude: vec![] })
                    .collect();
                &implied
            }
        };
        for method in methods.iter().filter(|m| m.handles(provider)) {
            match &method.kind {
                InstallationKind::FilesystemMirror(root) => {
                    let packages = mirror::packages(root, provider, &self.platform)
                        .map_err(|e| files(provider, root, e))?;
                    // The first mirror that has a version provides it.
                    for (version, location) in packages {
                        search.found.entry(version).or_insert(location);
                    }
                }
                InstallationKind::NetworkMirror(url) => {
                    search.unsupported = Some(format!("from the network mirror {url}"));
                }
                InstallationKind::Direct => {
                    search.unsupported =
                        Some(format!("directly from the registry {}", provider.host));
                }
            }
        }
        Ok(search)
    }

    /// Puts a package into the working directory. Its checksums.
    fn put_in_place(
        &self,
        provider: &ProviderAddress,
        version: &Version,
        location: &PackageLocation,
    ) -> Result<BTreeSet<PackageHash>, InstallError> {
        let target = self.package_directory(provider, version);
        let failed = |e| files(provider, &target, e);
        self.take_away(provider, version);
        let parent = target.parent().unwrap_or(&self.directory);
        std::fs::create_dir_all(parent).map_err(failed)?;
        let mut hashes = BTreeSet::new();
        match location {
            PackageLocation::Unpacked(directory) => {
                let source = directory.canonicalize().map_err(|e| files(provider, directory, e))?;
                std::os::unix::fs::symlink(source, &target).map_err(failed)?;
            }
            PackageLocation::Packed(archive) => {
                let hash = PackageHash::of_archive_bytes(archive);
                hashes.insert(hash.map_err(|e| files(provider, archive, e))?);
                unpack(archive, &target).map_err(|e| files(provider, archive, e))?;
            }
        }
        mirror::executable(&target, provider).map_err(failed)?;
        hashes.insert(PackageHash::of_directory(&target).map_err(failed)?);
        Ok(hashes)
    }

    /// Removes a package, or the link to it.
    fn take_away(&self, provider: &ProviderAddress, version: &Version) {
        let target = self.package_directory(provider, version);
        if std::fs::remove_file(&target).is_err() {
            // What cannot be removed is found when something is put in its place.
            let _ = std::fs::remove_dir_all(&target);
        }
    }
}

/// Unpacks beside the target and renames, so that a half unpacked package is never taken for one.
fn unpack(archive: &Path, target: &Path) -> io::Result<()> {
    let partial = target.with_extension("partial");
    if partial.exists() {
        std::fs::remove_dir_all(&partial)?;
    }
    let mut zip = zip::ZipArchive::new(std::fs::File::open(archive)?).map_err(io::Error::other)?;
    zip.extract(&partial).map_err(io::Error::other)?;
    std::fs::rename(&partial, target)
}

fn files(provider: &ProviderAddress, path: &Path, source: io::Error) -> InstallError {
    InstallError::Files { provider: provider.clone(), path: path.display().to_string(), source }
}
