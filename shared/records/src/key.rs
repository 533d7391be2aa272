//! Keys: the names under which stores keep bodies.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::StoreError;

/// The longest key, in bytes of UTF-8: what S3 accepts.
pub const MAX_KEY_LENGTH: usize = 1024;

/// The validated name of a record or an artifact: segments of Unicode text, separated by `/`.
///
/// Refused are the empty key, NUL, a leading `/`, empty segments (so also a trailing `/`), the
/// segments `.` and `..`, and keys above [`MAX_KEY_LENGTH`] bytes. Empty segments are refused although
/// S3 takes them, because a file system cannot tell `a//b` from `a/b`. Any other text is a key; two
/// keys are the same only if their bytes are. A key may also be a prefix of others: `a` and `a/b` can
/// both exist.
///
/// Keys order by their bytes, as lists do. Clones are cheap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(Arc<str>);

/// Why a text is no key, or no key for the store at hand.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// There is no text.
    #[error("it is empty")]
    Empty,
    /// The text is longer than a key may be.
    #[error("it is {length} bytes long, and the longest key has {limit}")]
    TooLong {
        /// Bytes in the text.
        length: usize,
        /// Bytes that are allowed.
        limit: usize,
    },
    /// The text contains NUL.
    #[error("it contains a NUL character")]
    Nul,
    /// The text starts with `/`.
    #[error("it starts with \"/\"; keys are relative to their store")]
    LeadingSlash,
    /// Two `/` in a row, or one at the end.
    #[error("it has an empty segment (\"//\", or \"/\" at its end)")]
    EmptySegment,
    /// A segment is `.` or `..`.
    #[error("it has a segment \".\" or \"..\", which would name another folder")]
    DotSegment,
    /// A file system cannot hold a name of this length.
    #[error(
        "the segment {segment:?} needs a file name of {length} bytes, and a file system holds \
         {limit}"
    )]
    SegmentTooLong {
        /// The segment as it stands in the key.
        segment: String,
        /// Bytes of the file name it becomes.
        length: usize,
        /// Bytes of the longest file name.
        limit: usize,
    },
    /// The file system refused the whole path as too long.
    #[error("its path is longer than the file system can hold")]
    PathTooLong,
}

impl Key {
    /// Checks a text and makes it a key.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidKey`] with the rule that the text breaks.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, StoreError> {
        let text = text.into();
        match fault_of(&text) {
            None => Ok(Self(text)),
            Some(fault) => Err(StoreError::InvalidKey { key: text.to_string(), fault }),
        }
    }

    /// This key, a `/`, and `rest`, which may have several segments itself.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidKey`] when `rest` or the whole is no key.
    pub fn join(&self, rest: &str) -> Result<Self, StoreError> {
        Self::new(format!("{self}/{rest}"))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments between the slashes, in order; never none.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }
}

fn fault_of(text: &str) -> Option<KeyFault> {
    if text.is_empty() {
        return Some(KeyFault::Empty);
    }
    if text.len() > MAX_KEY_LENGTH {
        return Some(KeyFault::TooLong { length: text.len(), limit: MAX_KEY_LENGTH });
    }
    if text.starts_with('/') {
        return Some(KeyFault::LeadingSlash);
    }
    if text.contains('\0') {
        return Some(KeyFault::Nul);
    }
    text.split('/').find_map(segment_fault)
}

/// What keeps a text from being one segment of a key, lengths aside.
pub(crate) fn segment_fault(segment: &str) -> Option<KeyFault> {
    match segment {
        "" => Some(KeyFault::EmptySegment),
        "." | ".." => Some(KeyFault::DotSegment),
        _ if segment.contains('\0') => Some(KeyFault::Nul),
        _ => None,
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl FromStr for Key {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        Self::new(text)
    }
}

impl TryFrom<&str> for Key {
    type Error = StoreError;

    fn try_from(text: &str) -> Result<Self, StoreError> {
        Self::new(text)
    }
}

impl TryFrom<String> for Key {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self, StoreError> {
        Self::new(text)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.0.as_ref().to_owned()
    }
}
