//! Finding, choosing, locking and verifying provider packages.

mod cli_config;
mod cli_config_json;
mod error;
mod event;
mod hash;
mod installer;
mod layout;
mod lock;
mod mirroring;
mod openpgp;
mod package;
mod placing;
mod platform;
mod settings;
mod source;
mod staging;
mod unpack;
mod version;

pub use cli_config::{
    CliConfig, CliConfigSurroundings, InstallationKind, InstallationMethod, MergeError,
    ProviderPattern,
};
pub use error::{DownloadError, InstallError};
pub use event::{Authentication, InstallEvent, InstallObserver};
pub use hash::{InvalidHash, PackageHash};
pub use installer::{InstallMode, InstallRequest, Installer};
pub use lock::{Locks, ProviderLock};
pub use mirroring::write_mirror_indexes;
pub use openpgp::{SignatureError, Signer, verify_detached};
pub use package::{Package, PackageError, ProviderPackages};
pub use platform::{InvalidPlatform, Platform};
pub use settings::InvalidSettings;
pub use source::{Network, SourceError};
pub use unpack::{PackageLimits, UnpackError};
pub use version::{Version, VersionConstraints, VersionError};
