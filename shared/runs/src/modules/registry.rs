//! Registries of modules: which versions there are, and where their packages are.

use super::address::{masked, problem_of};
use super::error::{PackageError, status_may_pass};
use super::packages::PackageSources;
use http::StatusCode;
use language::module::{ModuleSource, RegistryModule, RemoteModule};
use language::version::{Version, VersionConstraints};
use providers::https::HttpsError;
use providers::services::{Answer, DiscoveryError, HostName, InvalidHostName};
use serde::Deserialize;
use url::Url;

const SERVICE: &str = "modules.v1";
const HEADER: &str = "x-terraform-get";
/// Bytes of an answer.
const LIMIT: u64 = 32 << 20;

/// A registry does not answer as it has to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// There are no clients of networks.
    #[error(transparent)]
    Clients(#[from] Box<PackageError>),
    /// The host's name is none.
    #[error(transparent)]
    Host(#[from] InvalidHostName),
    /// The host has no registry.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// No answer came.
    #[error(transparent)]
    Https(#[from] HttpsError),
    /// There is no such module.
    #[error("module not found")]
    NotFound,
    /// There is no such version.
    #[error("module \"{module}\" version \"{version}\" not found")]
    VersionNotFound {
        /// The module.
        module: String,
        /// The version.
        version: String,
    },
    /// It refuses.
    #[error("{what}: {status}")]
    Refused {
        /// What was asked.
        what: &'static str,
        /// Its answer.
        status: StatusCode,
    },
    /// The answer makes no sense.
    #[error("its answer cannot be understood: {0}")]
    Answer(String),
    /// It names no package that may be fetched.
    #[error("failed to get download URL for \"{module}\": {problem}")]
    Location {
        /// The module.
        module: String,
        /// What is wrong.
        problem: String,
    },
}

impl RegistryError {
    /// Whether the registry may answer otherwise in a moment.
    pub fn may_pass(&self) -> bool {
        match self {
            RegistryError::Https(error)
            | RegistryError::Discovery(DiscoveryError::Unreachable { source: error, .. }) => {
                error.may_pass()
            }
            RegistryError::Refused { status, .. }
            | RegistryError::Discovery(DiscoveryError::Refused { status, .. }) => {
                status_may_pass(*status)
            }
            _ => false,
        }
    }
}

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    #[serde(default)]
    versions: Vec<ModuleVersion>,
}

#[derive(Deserialize)]
struct ModuleVersion {
    version: String,
}

#[derive(Deserialize)]
struct Location {
    #[serde(default)]
    location: String,
}

/// The versions that a registry has of a module, and texts that are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Offered {
    pub(super) versions: Vec<Version>,
    pub(super) invalid: Vec<String>,
    /// Whether the registry said anything of the module.
    pub(super) known: bool,
}

/// Which of the offered versions is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Version(Version),
    /// None will do; the newest is this.
    NoneMatches(Version),
    /// There is none.
    None,
}

impl Offered {
    /// The newest version that will do. A pre-release does only where it and nothing else is asked for.
    pub(super) fn choose(&self, wanted: Option<&VersionConstraints>) -> Choice {
        let exactly = wanted.and_then(VersionConstraints::exactly);
        let considered = self.versions.iter().filter(|version| {
            version.prerelease.is_empty() || exactly.is_some_and(|exactly| exactly == *version)
        });
        let considered: Vec<&Version> = considered.collect();
        let matches = |version: &&&Version| wanted.is_none_or(|wanted| wanted.matches(version));
        match (considered.iter().filter(matches).max(), considered.iter().max()) {
            (Some(chosen), _) => Choice::Version((*chosen).clone()),
            (None, Some(newest)) => Choice::NoneMatches((*newest).clone()),
            (None, None) => Choice::None,
        }
    }
}

impl PackageSources<'_> {
    /// The versions that a registry has of a module.
    ///
    /// # Errors
    /// Where the registry does not say.
    pub(super) async fn versions(&self, module: &RegistryModule) -> Result<Offered, RegistryError> {
        let host: HostName = module.host.parse()?;
        let answer = self.ask_registry(&host, &format!("{}/versions", module.path())).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(RegistryError::NotFound),
            status => {
                return Err(RegistryError::Refused {
                    what: "error looking up module versions",
                    status,
                });
            }
        }
        let versions: Versions = serde_json::from_slice(&answer.body)
            .map_err(|error| RegistryError::Answer(error.to_string()))?;
        let mut offered = Offered { known: !versions.modules.is_empty(), ..Offered::default() };
        for ModuleVersion { version } in
            versions.modules.into_iter().take(1).flat_map(|module| module.versions)
        {
            match version.parse() {
                Ok(parsed) => offered.versions.push(parsed),
                Err(_) => offered.invalid.push(version),
            }
        }
        Ok(offered)
    }

    /// Where the package of one version is.
    ///
    /// # Errors
    /// Where the registry does not say, or names what it may not.
    pub(super) async fn location(
        &self,
        module: &RegistryModule,
        version: &Version,
    ) -> Result<RemoteModule, RegistryError> {
        let host: HostName = module.host.parse()?;
        let path = format!("{}/{version}/download", module.path());
        let answer = self.ask_registry(&host, &path).await?;
        let header = answer.headers.get(HEADER).and_then(|value| value.to_str().ok());
        let header = header.unwrap_or_default().to_owned();
        let named = match answer.status {
            StatusCode::NO_CONTENT => header,
            StatusCode::OK => match serde_json::from_slice::<Location>(&answer.body) {
                Ok(Location { location }) if !location.is_empty() => location,
                // Registries answer pages here, too.
                _ => header,
            },
            StatusCode::NOT_FOUND => {
                return Err(RegistryError::VersionNotFound {
                    module: module.package(),
                    version: version.to_string(),
                });
            }
            status => {
                return Err(RegistryError::Refused {
                    what: "error getting download location",
                    status,
                });
            }
        };
        let failed =
            |problem: String| RegistryError::Location { module: module.package(), problem };
        if named.is_empty() {
            return Err(failed("no source address in response".to_owned()));
        }
        let named = match named.starts_with('/')
            || named.starts_with("./")
            || named.starts_with("../")
        {
            true => answer.url.join(&named).map_err(|error| failed(error.to_string()))?.to_string(),
            false => named,
        };
        match ModuleSource::parse(&named) {
            Ok(ModuleSource::Remote(remote)) => {
                self.check_remote(&remote.package).map_err(|error| failed(error.to_string()))?;
                remote.below(&module.subdirectory).map_err(|error| failed(error.to_string()))
            }
            Ok(_) => Err(failed(format!("{:?} is no address of a package", masked(&named)))),
            Err(error) => Err(failed(format!("{:?}: {}", masked(&named), problem_of(&error)))),
        }
    }

    async fn ask_registry(
        &self,
        host: &HostName,
        path: &str,
    ) -> Result<Answer<bytes::Bytes>, RegistryError> {
        let services = self.clients.services().map_err(Box::new)?;
        let base: Url = services.url(host, SERVICE).await?;
        let url = base.join(path).map_err(|error| RegistryError::Answer(error.to_string()))?;
        Ok(services.get(&url, Some(host), LIMIT).await?)
    }
}
