//! Versions: what compare-and-swap compares.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A store's opaque token for one state of one key: an `ETag`, a `resourceVersion`, a hash.
///
/// Only equality means anything: versions have no order, and tokens of different stores or keys do not
/// compare. The empty token stands for "there is nothing under this key".
///
/// A token may be derived from the body alone. Bodies that must be told apart, such as one that was
/// changed and changed back, have to differ in a byte; the engine gives every body a fresh write id.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(Arc<str>);

impl Version {
    /// A token as a store, or something that kept a store's token, gave it.
    pub fn new(token: impl Into<Arc<str>>) -> Self {
        Self(token.into())
    }

    /// The version of a key under which there is nothing.
    #[must_use]
    pub fn absent() -> Self {
        Self(Arc::from(""))
    }

    /// Whether this is the version of nothing.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.0.is_empty()
    }

    /// The token itself; empty for [`Version::absent`].
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The version of a body where a store has no better token: 128 bits of its SHA-256, in hex.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        let digest = Sha256::digest(body);
        Self::new(hex::encode(digest.get(..16).unwrap_or(&digest)))
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::absent()
    }
}

/// For people: the token, or the word `absent`. What is stored or compared is [`Version::as_str`].
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_absent() { "absent" } else { &self.0 })
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({:?})", &*self.0)
    }
}
