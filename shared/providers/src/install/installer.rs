use super::cli_config::{CliConfig, InstallationKind, InstallationMethod};
use super::error::InstallError;
use super::event::{InstallEvent, InstallObserver};
use super::hash::PackageHash;
use super::layout;
use super::lock::{Locks, ProviderLock};
use super::placing::{Placed, Placing};
use super::platform::Platform;
use super::source::{self, Available, Network, PackageLocation, SourceError};
use super::unpack::PackageLimits;
use super::version::{Version, VersionConstraints};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use values::address::ProviderAddress;

/// Installs the providers that a configuration requires into a working directory.
#[derive(Clone, Debug)]
pub struct Installer {
    /// Ways to install, providers under development, and the plugin cache.
    pub config: CliConfig,
    /// Mirrors to look into where the CLI configuration names no ways, in order. What one of them has is not looked for elsewhere.
    pub implied_mirrors: Vec<PathBuf>,
    /// Where packages go: `.terraform/providers`.
    pub directory: PathBuf,
    /// The platform to install for.
    pub platform: Platform,
    /// The way to registries and mirrors; without it, what is not in a directory is refused.
    pub network: Option<Network>,
    /// What a package may take.
    pub limits: PackageLimits,
}

/// What to install.
#[derive(Clone, Copy, Debug)]
pub struct InstallRequest<'a> {
    /// Required providers, and the versions that all modules agree to.
    pub requirements: &'a BTreeMap<ProviderAddress, VersionConstraints>,
    /// What is locked already; the default where there is no lock file.
    pub locks: &'a Locks,
    /// How far what is locked counts.
    pub mode: InstallMode,
}

/// How far what is locked counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstallMode {
    /// Locked versions are kept, and their packages have to be the locked ones.
    #[default]
    Locked,
    /// The newest versions are chosen. A package of a version that is locked already has to be the locked one all the same.
    Upgrade,
    /// Locked versions are kept; the packages are taken as they come, and their checksums are recorded beside the locked ones.
    RecordChecksums,
}

/// A version that was chosen.
struct Chosen<'a> {
    provider: &'a ProviderAddress,
    constraints: &'a VersionConstraints,
    version: Version,
    /// What is locked of that very version.
    lock: Option<&'a ProviderLock>,
}

impl Installer {
    /// Installs what is missing. The answer is the new lock file's content, without providers that
    /// are no longer required.
    ///
    /// # Errors
    /// One for each provider that was not installed; the others are.
    pub async fn install(
        &self,
        request: InstallRequest<'_>,
        observer: &mut dyn InstallObserver,
    ) -> Result<Locks, Vec<InstallError>> {
        let mut locks = Locks::default();
        let mut errors = Vec::new();
        let mut chosen = Vec::new();
        for (provider, constraints) in request.requirements {
            match self.choose(provider, constraints, request, observer).await {
                Ok(Some(choice)) => chosen.push(choice),
                Ok(None) => {
                    // What is locked stays locked for those without the override.
                    let kept = request.locks.0.get(provider).filter(|_| !provider.is_builtin());
                    locks.0.extend(kept.map(|lock| (provider.clone(), lock.clone())));
                }
                Err(error) => errors.push(error),
            }
        }
        for choice in chosen {
            match self.put_in_place(&choice, request, observer).await {
                Ok(lock) => drop(locks.0.insert(choice.provider.clone(), lock)),
                Err(error) => errors.push(error),
            }
        }
        match errors.is_empty() {
            true => Ok(locks),
            false => Err(errors),
        }
    }

    /// The version to install; `None` where nothing is to be installed.
    async fn choose<'a>(
        &self,
        provider: &'a ProviderAddress,
        constraints: &'a VersionConstraints,
        request: InstallRequest<'a>,
        observer: &mut dyn InstallObserver,
    ) -> Result<Option<Chosen<'a>>, InstallError> {
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
            return Ok(None);
        }
        if self.config.running.contains_key(provider) {
            observer.event(InstallEvent::Running { provider });
            return Ok(None);
        }
        let lock = request.locks.0.get(provider);
        if let Some(lock) = lock.filter(|_| request.mode != InstallMode::Upgrade) {
            observer.event(InstallEvent::Reusing { provider });
            let version = lock.version.clone();
            if !constraints.allow(&version) {
                return Err(InstallError::LockedOut {
                    provider: provider.clone(),
                    version: Box::new(version),
                    constraints: constraints.to_string(),
                });
            }
            return Ok(Some(Chosen { provider, constraints, version, lock: Some(lock) }));
        }
        observer.event(InstallEvent::Finding { provider, constraints });
        let available = self.available(provider).await?;
        if !available.warnings.is_empty() {
            observer.event(InstallEvent::Warned { provider, warnings: &available.warnings });
        }
        let newest = constraints.newest(&available.versions).cloned();
        let version = newest.ok_or_else(|| no_version(provider, constraints, &available))?;
        let lock = lock.filter(|lock| lock.version == version);
        Ok(Some(Chosen { provider, constraints, version, lock }))
    }

    /// The ways that are meant for a provider, in order.
    fn ways(&self, provider: &ProviderAddress) -> Result<Vec<InstallationKind>, InstallError> {
        if let Some(methods) = &self.config.installation {
            let meant = methods.iter().filter(|method| method.handles(provider));
            return Ok(meant.map(|method: &InstallationMethod| method.kind.clone()).collect());
        }
        let mut ways = Vec::new();
        for root in &self.implied_mirrors {
            let versions = source::filesystem::versions(root, provider);
            let versions =
                versions.map_err(|source| SourceError::Directory { path: root.clone(), source });
            if !versions.map_err(|reason| of_source(provider, None, reason))?.is_empty() {
                ways.push(InstallationKind::FilesystemMirror(root.clone()));
            }
        }
        if ways.is_empty() {
            ways.push(InstallationKind::Direct);
        }
        Ok(ways)
    }

    /// The versions that there are.
    pub(super) async fn available(
        &self,
        provider: &ProviderAddress,
    ) -> Result<Available, InstallError> {
        let ways = self.ways(provider)?;
        let mut all = Available::default();
        for way in &ways {
            let found = source::versions(way, self.network.as_ref(), provider).await;
            let found = found.map_err(|reason| of_source(provider, None, reason))?;
            let found = found.unwrap_or_default();
            all.versions.extend(found.versions);
            all.warnings.extend(found.warnings);
        }
        if !all.versions.is_empty() {
            return Ok(all);
        }
        let provider = provider.clone();
        Err(match *ways {
            [InstallationKind::Direct] => InstallError::NotInRegistry { provider },
            _ => {
                let searched = ways.iter().map(|way| source::describe(way, &provider)).collect();
                InstallError::NotFound { provider, searched }
            }
        })
    }

    /// Where the package of a version is: the first way that has it counts.
    pub(super) async fn locate(
        &self,
        provider: &ProviderAddress,
        version: &Version,
    ) -> Result<PackageLocation, InstallError> {
        let ways = self.ways(provider)?;
        for way in &ways {
            let network = self.network.as_ref();
            let found = source::package(way, network, provider, version, &self.platform).await;
            let found = found.map_err(|reason| of_source(provider, Some(version), reason))?;
            if let Some(location) = found {
                return Ok(location);
            }
        }
        Err(InstallError::UnsupportedPlatform {
            provider: provider.clone(),
            version: Box::new(version.clone()),
            platform: Box::new(self.platform.clone()),
            searched: ways.iter().map(|way| source::describe(way, provider)).collect(),
        })
    }

    /// Has a package in place; what is to be locked of it.
    async fn put_in_place(
        &self,
        choice: &Chosen<'_>,
        request: InstallRequest<'_>,
        observer: &mut dyn InstallObserver,
    ) -> Result<ProviderLock, InstallError> {
        let Chosen { provider, constraints, version, lock } = choice;
        let locked = lock.map(|lock| &lock.hashes).filter(|hashes| !hashes.is_empty());
        let locked = locked.cloned().unwrap_or_default();
        let with = |hashes: BTreeSet<PackageHash>| ProviderLock {
            version: version.clone(),
            constraints: (*constraints).clone(),
            hashes: hashes.union(&locked).cloned().collect(),
        };
        let placing = Placing {
            provider,
            version,
            target: self.target(&self.directory, provider, version),
            limits: self.limits,
            network: self.network.as_ref(),
        };
        if placing.holds_any_of(&locked).await? {
            observer.event(InstallEvent::AlreadyInstalled { provider, version });
            return Ok(with(BTreeSet::new()));
        }
        let cache = self.cache()?;
        let cached = cache.map(|cache| Placing {
            target: self.target(cache, provider, version),
            ..placing.clone()
        });
        if let Some(cached) = &cached {
            let will_do = match locked.is_empty() {
                true => self.config.plugin_cache_may_break_dependency_lock_file,
                false => cached.holds_any_of(&locked).await?,
            };
            if will_do && let Some(hash) = cached.held().await? {
                observer.event(InstallEvent::FromCache { provider, version });
                placing.link(&cached.target).await?;
                if locked.is_empty() {
                    observer.event(InstallEvent::LockedForThisPlatform { provider });
                }
                return Ok(with([hash].into()));
            }
        }
        let location = match self.locate(provider, version).await {
            // Nobody has the locked version any more, for whatever platform.
            Err(InstallError::UnsupportedPlatform { .. })
                if lock.is_some()
                    && !self.available(provider).await?.versions.contains(version) =>
            {
                return Err(InstallError::LockedGone {
                    provider: (*provider).clone(),
                    version: Box::new(version.clone()),
                });
            }
            location => location?,
        };
        observer.event(InstallEvent::Installing { provider, version });
        let allowed = match request.mode {
            InstallMode::RecordChecksums => BTreeSet::new(),
            InstallMode::Locked | InstallMode::Upgrade => locked.clone(),
        };
        let place = cached.as_ref().unwrap_or(&placing);
        let placed = place.place(&location, &allowed).await;
        if let Err(InstallError::ChecksumMismatch { .. }) = placed {
            // A package that is not the locked one must not be found in its place either.
            placing.take_away()?;
        }
        let Placed { hash, signed, authentication } = placed?;
        if let Some(cached) = &cached {
            placing.link(&cached.target).await?;
        }
        if signed.is_empty() && locked.iter().all(|known| *known == hash) {
            observer.event(InstallEvent::LockedForThisPlatform { provider });
        }
        let authentication = &authentication;
        observer.event(InstallEvent::Installed { provider, version, authentication });
        Ok(with(signed.into_iter().chain([hash]).collect()))
    }

    fn target(&self, root: &Path, provider: &ProviderAddress, version: &Version) -> PathBuf {
        layout::package_directory(root, provider, version, &self.platform)
    }

    /// The plugin cache, where there is one.
    fn cache(&self) -> Result<Option<&Path>, InstallError> {
        let Some(cache) = &self.config.plugin_cache_dir else { return Ok(None) };
        match std::fs::metadata(cache) {
            Ok(metadata) if metadata.is_dir() => Ok(Some(cache)),
            found => Err(InstallError::NoCache {
                path: cache.display().to_string(),
                source: found.err().unwrap_or_else(|| std::io::ErrorKind::NotADirectory.into()),
            }),
        }
    }
}

pub(super) fn no_version(
    provider: &ProviderAddress,
    constraints: &VersionConstraints,
    available: &Available,
) -> InstallError {
    /// How many versions are named: large providers have hundreds.
    const NAMED: usize = 10;
    let newest = available.versions.iter().rev().take(NAMED).map(Version::to_string);
    let mut newest: Vec<String> = newest.collect();
    if available.versions.len() > NAMED {
        newest.push("older ones".to_owned());
    }
    InstallError::NoVersion {
        provider: provider.clone(),
        constraints: constraints.to_string(),
        available: format!("there are {}", newest.join(", ")),
    }
}

fn of_source(
    provider: &ProviderAddress,
    version: Option<&Version>,
    reason: SourceError,
) -> InstallError {
    InstallError::Source {
        provider: provider.clone(),
        version: version.cloned().map(Box::new),
        reason: Box::new(reason),
    }
}
