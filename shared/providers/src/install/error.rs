use super::hash::PackageHash;
use super::platform::Platform;
use super::source::{SourceError, is_no_registry};
use super::unpack::UnpackError;
use super::version::Version;
use crate::https::HttpsError;
use std::io;
use values::address::ProviderAddress;

/// A provider was not installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No version will do.
    #[error(
        "Could not retrieve the list of available versions for provider {}: no available releases match the given constraints {constraints}; {available}{}",
        provider.for_display(), see_modules(provider)
    )]
    NoVersion {
        /// The provider.
        provider: ProviderAddress,
        /// What was asked for.
        constraints: String,
        /// What there is, in words.
        available: String,
    },
    /// Nobody has the provider.
    #[error(
        "Could not retrieve the list of available versions for provider {}: provider {provider} was not found in any of the search locations{}{}",
        provider.for_display(), list(searched), see_modules(provider)
    )]
    NotFound {
        /// The provider.
        provider: ProviderAddress,
        /// Where it was looked for.
        searched: Vec<String>,
    },
    /// The registry has no such provider.
    #[error(
        "Could not retrieve the list of available versions for provider {}: provider registry {} does not have a provider named {provider}\n\nAll modules should specify their required_providers so that external consumers will get the correct providers when using a module. To see which modules are currently depending on {}, run the following command:\n  plumb providers",
        provider.for_display(), provider.host, provider.for_display()
    )]
    NotInRegistry {
        /// The provider.
        provider: ProviderAddress,
    },
    /// The locked version is gone.
    #[error(
        "Could not retrieve the list of available versions for provider {}: the previously-selected version {version} is no longer available. To select another version, run:\n  plumb init -upgrade",
        provider.for_display()
    )]
    LockedGone {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
    },
    /// The lock file rules out what the configuration wants.
    #[error(
        "Could not retrieve the list of available versions for provider {}: locked provider {provider} {version} does not match configured version constraint {constraints}. To allow selection of new versions, run:\n  plumb init -upgrade",
        provider.for_display()
    )]
    LockedOut {
        /// The provider.
        provider: ProviderAddress,
        /// The locked version.
        version: Box<Version>,
        /// What the configuration wants.
        constraints: String,
    },
    /// A source of packages gives no usable answer.
    #[error("{}", of_source(.provider, .version.as_deref(), .reason))]
    Source {
        /// The provider.
        provider: ProviderAddress,
        /// The version, where its package was asked for.
        version: Option<Box<Version>>,
        /// Why.
        reason: Box<SourceError>,
    },
    /// There is no package for the platform.
    #[error(
        "Provider {} v{version} does not have a package available for the platform {platform}, in any of:{}\n\nNot all providers are available for all platforms. Other versions of this provider may have different platforms supported; a mirror may have only some of the packages in the origin registry.",
        provider.for_display(), list(searched)
    )]
    UnsupportedPlatform {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
        /// The platform.
        platform: Box<Platform>,
        /// Where it was looked for.
        searched: Vec<String>,
    },
    /// The builtin provider has no versions to choose from.
    #[error(
        "Cannot use {}: built-in providers do not support explicit version constraints. Remove it from required_providers",
        provider.for_display()
    )]
    BuiltinVersion {
        /// The provider.
        provider: ProviderAddress,
    },
    /// There is no such builtin provider.
    #[error(
        "Cannot use {}: there is no built-in provider named {:?}",
        provider.for_display(), provider.ty
    )]
    UnknownBuiltin {
        /// The provider.
        provider: ProviderAddress,
    },
    /// The package is not the one that was locked.
    #[error(
        "Error while installing {} v{version}: the package for {provider} {version} doesn't match any of the checksums previously recorded in the dependency lock file: nothing of it was kept. It was changed since it was locked, or the recorded checksums are for packages targeting different platforms. If that is intended, record its checksums:\n  plumb providers lock",
        provider.for_display()
    )]
    ChecksumMismatch {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
    },
    /// The package is not the one that its source has announced.
    #[error(
        "Error while installing {} v{version}: {}: nothing of it was kept. It was changed on the way, or where it is kept; run `plumb init` again, and tell whoever keeps it if this stays",
        provider.for_display(), wrong(.got, .expected)
    )]
    WrongPackage {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
        /// What came.
        got: Box<PackageHash>,
        /// What was announced.
        expected: Vec<PackageHash>,
    },
    /// The package did not come.
    #[error("Error while installing {} v{version}: {reason}", provider.for_display())]
    Download {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
        /// Why.
        reason: DownloadError,
    },
    /// The package is no package.
    #[error("Error while installing {} v{version}: {reason}", provider.for_display())]
    Unpack {
        /// The provider.
        provider: ProviderAddress,
        /// The version.
        version: Box<Version>,
        /// Why.
        reason: UnpackError,
    },
    /// Files could not be read or written.
    #[error("Error while installing {}: {path}: {source}", provider.for_display())]
    Files {
        /// The provider.
        provider: ProviderAddress,
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The plugin cache is not there.
    #[error(
        "The specified plugin cache dir {path} cannot be opened: {source}. Make it, or remove plugin_cache_dir from the CLI configuration and TF_PLUGIN_CACHE_DIR from the environment:\n  mkdir -p {path}"
    )]
    NoCache {
        /// Where it should be.
        path: String,
        /// Why it cannot be used.
        source: io::Error,
    },
}

/// An archive did not come.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The connection failed, or the archive is cut off or too large.
    #[error(transparent)]
    Https(#[from] HttpsError),
    /// The host refuses.
    #[error("unsuccessful request to {url}: {status}")]
    Refused {
        /// Where the archive should be.
        url: String,
        /// The host's answer.
        status: http::StatusCode,
    },
}

impl InstallError {
    /// One line, as Terraform has it; the error itself is the detail.
    pub fn summary(&self) -> &'static str {
        match self {
            InstallError::Source { reason, .. } if is_no_registry(reason) => {
                "Invalid provider registry host"
            }
            InstallError::Source { reason, .. }
                if matches!(**reason, SourceError::UnsupportedProtocol { .. }) =>
            {
                "Incompatible provider version"
            }
            InstallError::UnsupportedPlatform { .. } => "Incompatible provider version",
            InstallError::NoVersion { .. }
            | InstallError::NotFound { .. }
            | InstallError::NotInRegistry { .. }
            | InstallError::LockedGone { .. }
            | InstallError::LockedOut { .. }
            | InstallError::Source { version: None, .. } => {
                "Failed to query available provider packages"
            }
            InstallError::BuiltinVersion { .. } | InstallError::UnknownBuiltin { .. } => {
                "Invalid dependency on built-in provider"
            }
            InstallError::NoCache { .. } => "There are some problems with the CLI configuration",
            _ => "Failed to install provider",
        }
    }
}

fn of_source(
    provider: &ProviderAddress,
    version: Option<&Version>,
    reason: &SourceError,
) -> String {
    let shown = provider.for_display();
    if is_no_registry(reason) {
        return format!(
            "The host {:?} given in provider source address \"{provider}\" does not offer a Terraform provider registry: {reason}. Correct the address in required_providers",
            provider.host
        );
    }
    match version {
        None => format!(
            "Could not retrieve the list of available versions for provider {shown}: {reason}{}",
            see_modules(provider)
        ),
        Some(version) => format!("Error while installing {shown} v{version}: {reason}"),
    }
}

fn see_modules(provider: &ProviderAddress) -> String {
    format!(
        "\n\nTo see which modules are currently depending on {} and what versions are specified, run the following command:\n    plumb providers",
        provider.for_display()
    )
}

fn list(locations: &[String]) -> String {
    let lines: String = locations.iter().map(|location| format!("\n  - {location}")).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{lines}"),
    }
}

fn wrong(got: &PackageHash, expected: &[PackageHash]) -> String {
    match expected {
        [expected] => format!("archive has incorrect checksum {got} (expected {expected})"),
        _ => format!("provider package doesn't match any of the expected checksums (it is {got})"),
    }
}
