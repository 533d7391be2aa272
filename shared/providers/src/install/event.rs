use super::openpgp::Signer;
use super::version::{Version, VersionConstraints};
use std::fmt;
use std::path::Path;
use values::address::ProviderAddress;

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
    /// The provider runs already and is not installed.
    Running {
        /// The provider.
        provider: &'a ProviderAddress,
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
    /// The provider's registry wants people to know something.
    Warned {
        /// The provider.
        provider: &'a ProviderAddress,
        /// What.
        warnings: &'a [String],
    },
    /// The package is there already.
    AlreadyInstalled {
        /// The provider.
        provider: &'a ProviderAddress,
        /// The version.
        version: &'a Version,
    },
    /// The package is in the plugin cache.
    FromCache {
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
        /// What is known of its origin.
        authentication: &'a Authentication,
    },
    /// What is locked of the provider was computed here, and holds for this platform alone.
    LockedForThisPlatform {
        /// The provider.
        provider: &'a ProviderAddress,
    },
}

/// What is known of a package's origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// Nothing.
    Unauthenticated,
    /// It is what the mirror says that it is.
    VerifiedChecksum,
    /// Its author has signed it.
    Signed(Signer),
}

/// The key that HashiCorp signs its own providers with.
const HASHICORP: &str = "C874011F0AB405110D02105534365D9472D7468F";

impl Authentication {
    /// The key that signed it, where it is not one that everybody knows.
    pub fn third_party_key(&self) -> Option<String> {
        match self {
            Authentication::Signed(signer) if signer.fingerprint() != HASHICORP => {
                Some(signer.key_id())
            }
            _ => None,
        }
    }
}

/// In the words that Terraform has.
impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Authentication::Unauthenticated => "unauthenticated",
            Authentication::VerifiedChecksum => "verified checksum",
            Authentication::Signed(_) if self.third_party_key().is_none() => "signed by HashiCorp",
            Authentication::Signed(_) => "self-signed",
        })
    }
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
