//! Names the cause of what a service refused.

use std::error::Error as StdError;
use std::fmt;

use super::answer::{Failure, Meaning};
use super::connection::S3Connection;
use crate::{Key, StoreError};

/// What was asked of the service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The operation, in the service's own words: `GetObject`.
    pub(crate) operation: &'static str,
    /// The key it was for, where it was for one.
    pub(crate) key: Option<&'a Key>,
    /// Whether it would have changed something.
    pub(crate) is_write: bool,
}

/// The error that a caller gets for a failure that is final.
///
/// Absence and conflicts are told apart before: what comes here is neither, unless its meaning is
/// unexpected for the operation.
pub(crate) fn named(
    connection: &S3Connection,
    request: Request<'_>,
    failure: Failure,
) -> StoreError {
    if failure.code.as_deref() == Some("NoSuchBucket") {
        return StoreError::RootMissing { root: format!("s3://{}", connection.bucket()) };
    }
    let meaning = failure.meaning;
    let source = Box::new(Refusal::of(failure));
    match (meaning, request.key) {
        (Meaning::Unanswered | Meaning::Throttled, Some(key)) if request.is_write => {
            StoreError::Unanswered { key: key.clone(), source: Some(source) }
        }
        _ => StoreError::Service {
            service: connection.location(),
            operation: request.operation.to_owned(),
            source,
        },
    }
}

/// What the service said, in its own words.
#[derive(Debug)]
struct Refusal {
    said: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Refusal {
    fn of(failure: Failure) -> Self {
        let status = failure.status.map(|status| format!("status {status}"));
        let request = failure.request_id.map(|id| format!("request {id}"));
        match failure.code.or(status) {
            Some(code) => {
                let parts = [Some(code), failure.message, request];
                Self {
                    said: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
                    source: None,
                }
            }
            None => Self {
                said: "no answer that could be read".to_owned(),
                source: Some(failure.source),
            },
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl StdError for Refusal {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
