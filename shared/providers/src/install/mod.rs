//! Finding, choosing, locking and verifying provider packages.

mod cli_config;
mod cli_config_json;
mod hash;
mod installer;
mod lock;
mod mirror;
mod package;
mod settings;
mod version;

pub use cli_config::{
    CliConfig, CliConfigSurroundings, InstallationKind, InstallationMethod, ProviderPattern, TwoInstallations,
};
pub use hash::{InvalidHash, PackageHash};
pub use installer::{InstallError, InstallEvent, InstallObserver, InstallRequest, Installer};
pub use lock::{Locks, ProviderLock};
pub use mirror::{PackageLocation, Platform};
pub use package::{Package, PackageError, ProviderPackages};
pub use settings::InvalidSettings;
pub use version::{Version, VersionConstraints, VersionError};
