//! Names the cause of what a service refused.

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
    match (failure.meaning, request.key) {
        (Meaning::Unanswered | Meaning::Throttled, Some(key)) if request.is_write => {
            StoreError::Unanswered { key: key.clone(), source: Some(failure.source) }
        }
        _ => StoreError::Service {
            service: connection.location(),
            operation: request.operation.to_owned(),
            source: failure.source,
        },
    }
}
