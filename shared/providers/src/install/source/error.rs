use crate::install::openpgp::SignatureError;
use crate::install::version::Version;
use crate::services::{DiscoveryError, RequestError, Unauthorized};
use std::io;
use std::path::PathBuf;

/// A source of packages gives no usable answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Only a network would have it, and none may be used here.
    #[error(
        "it would have to be installed {way}, and this program installs from a directory alone: put its package there"
    )]
    NoNetwork {
        /// The way, in words.
        way: String,
    },
    /// A directory cannot be read.
    #[error("cannot search {}: {source}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The registry cannot be found.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The host wants credentials, or other ones.
    #[error(transparent)]
    Unauthorized(#[from] Unauthorized),
    /// There was no answer, or none that can be used.
    #[error("could not query {whom}: {detail}")]
    Query {
        /// The registry or mirror, in words.
        whom: String,
        /// Why.
        detail: String,
    },
    /// A package was not made for this program.
    #[error("it speaks the plugin protocol {}, and this program speaks 5 and 6{}", .protocols.join(", "), and_closest(.closest.as_deref()))]
    UnsupportedProtocol {
        /// What it speaks.
        protocols: Vec<String>,
        /// The nearest version that speaks one of ours.
        closest: Option<Box<Version>>,
    },
    /// The checksums of a package are not signed by any of the provider's keys.
    #[error(
        "the provider is not signed with a valid signing key; please contact the provider author ({0})"
    )]
    Signature(#[from] SignatureError),
    /// The registry contradicts the signed checksums.
    #[error("{0}")]
    Checksums(String),
}

impl SourceError {
    pub(super) fn query(whom: &str, detail: impl Into<String>) -> SourceError {
        SourceError::Query { whom: whom.to_owned(), detail: detail.into() }
    }
    pub(super) fn asking(whom: &str, error: &RequestError) -> SourceError {
        SourceError::query(whom, error.to_string())
    }
}

fn and_closest(version: Option<&Version>) -> String {
    match version {
        Some(version) => format!(
            ". Version {version} does; select it with the version constraint:\n  version = \"{version}\"\nand run `plumb init -upgrade`"
        ),
        None => ", and no other version does".to_owned(),
    }
}
