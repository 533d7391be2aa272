//! Where packages come from: directories, mirrors on the network, and registries.

mod checksums;
mod error;
pub(super) mod filesystem;
mod network_mirror;
mod registry;

pub use error::SourceError;
pub(super) use registry::is_no_registry;

use super::cli_config::InstallationKind;
use super::hash::PackageHash;
use super::openpgp::Signer;
use super::platform::Platform;
use super::version::Version;
use crate::https;
use crate::services::Services;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;
use values::address::ProviderAddress;

/// Bytes that a registry may answer beside packages: the list of a provider's versions is the largest.
const ANSWER_LIMIT: u64 = 64 << 20;

/// The way to hosts, and the time there.
#[derive(Clone, Debug)]
pub struct Network {
    /// Services of hosts.
    pub services: Arc<Services>,
    /// Seconds since 1970, by which signatures expire.
    pub now: i64,
}

/// Where the package of one version lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PackageLocation {
    /// A directory with the package's files.
    Unpacked(PathBuf),
    /// A zip archive of them.
    Packed(PathBuf),
    /// A zip archive of them at an address.
    Remote {
        /// The address.
        url: Url,
        /// What it has to be.
        expected: Expected,
    },
}

/// What a package has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The source says nothing.
    Anything,
    /// One of these, as a mirror has it.
    AnyOf(Vec<PackageHash>),
    /// This archive, as its author has signed it.
    Signed {
        /// The archive.
        archive: PackageHash,
        /// The archives of all platforms.
        all: BTreeSet<PackageHash>,
        /// Whose signature it is.
        signer: Signer,
    },
}

/// What there is of a provider.
#[derive(Clone, Debug, Default)]
pub(super) struct Available {
    pub(super) versions: BTreeSet<Version>,
    /// What the registry wants people to know.
    pub(super) warnings: Vec<String>,
}

/// In words, where packages are looked for.
pub(super) fn describe(kind: &InstallationKind, provider: &ProviderAddress) -> String {
    match kind {
        InstallationKind::FilesystemMirror(root) => root.display().to_string(),
        InstallationKind::NetworkMirror(url) => format!("provider mirror at {}", shown(url)),
        InstallationKind::Direct => format!("registry {}", provider.host),
    }
}

/// An address from a configuration, as people may read it.
fn shown(address: &str) -> String {
    match address.parse::<Url>() {
        Ok(url) if url.has_host() => https::shown(&url),
        // What cannot be taken apart has a name and password before its last at sign, if anywhere.
        _ => address.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

/// The versions that a source has; `None` where it does not know the provider.
pub(super) async fn versions(
    kind: &InstallationKind,
    network: Option<&Network>,
    provider: &ProviderAddress,
) -> Result<Option<Available>, SourceError> {
    match kind {
        InstallationKind::FilesystemMirror(root) => {
            let versions = filesystem::versions(root, provider)
                .map_err(|source| SourceError::Directory { path: root.clone(), source })?;
            let available = Available { versions, warnings: vec![] };
            Ok(Some(available).filter(|available| !available.versions.is_empty()))
        }
        InstallationKind::NetworkMirror(url) => {
            let network = network.ok_or_else(|| SourceError::NoNetwork {
                way: format!("from the network mirror {}", shown(url)),
            })?;
            network_mirror::versions(network, url, provider).await
        }
        InstallationKind::Direct => {
            let network = network.ok_or_else(|| SourceError::NoNetwork {
                way: format!("directly from the registry {}", provider.host),
            })?;
            registry::versions(network, provider).await
        }
    }
}

/// The package of a version that a source has; `None` where there is none for the platform.
pub(super) async fn package(
    kind: &InstallationKind,
    network: Option<&Network>,
    provider: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<Option<PackageLocation>, SourceError> {
    match (kind, network) {
        (InstallationKind::FilesystemMirror(root), _) => {
            filesystem::package(root, provider, version, platform)
                .map_err(|source| SourceError::Directory { path: root.clone(), source })
        }
        (InstallationKind::NetworkMirror(url), Some(network)) => {
            network_mirror::package(network, url, provider, version, platform).await
        }
        (InstallationKind::Direct, Some(network)) => {
            registry::package(network, provider, version, platform).await
        }
        (other, None) => Err(SourceError::NoNetwork { way: describe(other, provider) }),
    }
}
