//! What stores refuse, and what befalls them.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{Key, KeyFault, ServiceRefusal, Version};

/// Why a store did not do what it was asked.
///
/// Absence is never among them: reading what is not there answers "nothing".
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A conditional write found another version than it expected, and changed nothing.
    #[error(
        "{key} has changed: expected version {expected}, found {actual}; nothing was written. \
         Read it again and decide anew"
    )]
    Conflict {
        /// The key that was to be written.
        key: Key,
        /// The version the writer had seen.
        expected: Version,
        /// The version the store holds.
        actual: Version,
    },

    /// An immutable artifact exists with another content, and was not replaced.
    #[error("the artifact {key} exists with another content; artifacts are written once")]
    AlreadyExists {
        /// The artifact's key.
        key: Key,
    },

    /// A text is no key, or the store at hand cannot hold this one.
    #[error("{key:?} cannot be a key: {fault}")]
    InvalidKey {
        /// The text that was refused.
        key: String,
        /// The rule that it breaks.
        fault: KeyFault,
    },

    /// The place the store should be in does not exist: a directory, a bucket, a namespace.
    #[error("there is no store at {root}; check the name, or create the store first")]
    RootMissing {
        /// The place, in the store's own terms.
        root: String,
    },

    /// The store was laid out by a version of Plumbline that this one does not know.
    #[error(
        "the store at {root} has layout {found:?}, and this version knows {supported:?}; use the \
         version of Plumbline that wrote it, or a newer one"
    )]
    UnsupportedLayout {
        /// The place of the store.
        root: String,
        /// What the store says of itself.
        found: String,
        /// What this version of the crate reads and writes.
        supported: &'static str,
    },

    /// What was named as a store cannot keep what a store promises, and is not used as one.
    #[error("nothing is kept in {location}: {problem}")]
    Unsuitable {
        /// The place, in the store's own terms.
        location: String,
        /// What it cannot do, what would be lost, and what to use instead.
        problem: String,
    },

    /// A body is larger than the store can hold, and was not written.
    #[error(
        "{key} would be {size} bytes, and the store holds at most {limit}; split what makes it so large, or keep \
         the records in a store that holds more"
    )]
    TooLarge {
        /// The key that was to be written.
        key: Key,
        /// Bytes in the refused body.
        size: u64,
        /// Bytes that the store can hold.
        limit: u64,
    },

    /// What the store holds cannot be what was written.
    #[error("{location} is corrupt: {problem}")]
    Corrupt {
        /// Where it was found, in the store's own terms.
        location: String,
        /// What is wrong with it, and how to mend it.
        problem: String,
    },

    /// The operating system refused an operation on a file.
    ///
    /// After a write it is unknown whether the body was kept; read it back and compare.
    #[error("cannot {operation} {}: {}", path.display(), explain(cause))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was to be done with it.
        operation: FileOperation,
        /// What the operating system said. Part of the message, and so not a source of the error.
        cause: io::Error,
    },

    /// A write was sent and no answer came: it may have happened or not. Read it back and compare.
    #[error("no answer came to the write of {key}; it may have been done or not")]
    Unanswered {
        /// The key that was written.
        key: Key,
        /// What is known of the cause.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },

    /// A remote service refused for a reason that is known, with what mends it. Nothing was changed.
    #[error(transparent)]
    Refused(Box<ServiceRefusal>),

    /// A remote service refused or failed for a reason that none of the others says.
    #[error("{service} refused {operation}")]
    Service {
        /// The service and place, such as `s3://bucket/prefix`.
        service: String,
        /// The request, in the service's own words.
        operation: String,
        /// The service's answer.
        source: Box<dyn StdError + Send + Sync>,
    },

    /// What a cluster holds or allows would make records ambiguous, or lose them; nothing was written.
    #[cfg(feature = "kubernetes")]
    #[error(transparent)]
    Kubernetes(Box<crate::kubernetes::Refusal>),
}

#[cfg(feature = "kubernetes")]
impl From<crate::kubernetes::Refusal> for StoreError {
    fn from(refusal: crate::kubernetes::Refusal) -> Self {
        Self::Kubernetes(Box::new(refusal))
    }
}

impl StoreError {
    /// Whether a conditional write lost to another writer, so that nothing was changed.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }

    /// Whether a write that failed like this may have been kept all the same, so that its writer has to
    /// read back and compare.
    #[must_use]
    pub fn leaves_doubt(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Unanswered { .. } | Self::Service { .. })
    }

    /// Whether the identity was denied what it asked for. One that is meant to read only may go on
    /// without what it was not let write.
    #[must_use]
    pub fn is_denial(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.is_denial(),
            #[cfg(feature = "kubernetes")]
            Self::Kubernetes(refusal) => refusal.is_authorizers_denial(),
            _ => false,
        }
    }

    /// The error and what it comes from, in one line.
    pub(crate) fn with_source(&self) -> String {
        match self.source() {
            Some(source) => format!("{self}: {source}"),
            None => self.to_string(),
        }
    }

    pub(crate) fn io(operation: FileOperation, path: &Path, cause: io::Error) -> Self {
        Self::Io { path: path.to_owned(), operation, cause }
    }
}

/// What was to be done with a file or folder when the operating system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileOperation {
    /// Make a folder.
    CreateFolder,
    /// Read the names in a folder.
    ListFolder,
    /// Read a file.
    Read,
    /// Write a new file.
    Write,
    /// Put a written file in its place.
    Replace,
    /// Make a change durable.
    Sync,
    /// Remove a file or folder.
    Remove,
    /// Take an advisory lock.
    Lock,
}

impl fmt::Display for FileOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CreateFolder => "create the folder",
            Self::ListFolder => "list the folder",
            Self::Read => "read",
            Self::Write => "write",
            Self::Replace => "replace",
            Self::Sync => "sync to disk",
            Self::Remove => "remove",
            Self::Lock => "lock",
        })
    }
}

/// The operating system's words, and the remedy where there is one.
fn explain(cause: &io::Error) -> String {
    let remedy = match cause.kind() {
        io::ErrorKind::PermissionDenied => "; the user that runs this must own the store",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space and run again, what is stored is intact"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; the store can be read there, but not written",
        io::ErrorKind::Unsupported => "; keep the store on a file system that has advisory locks",
        _ => return cause.to_string(),
    };
    format!("{cause}{remedy}")
}
