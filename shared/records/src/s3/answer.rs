//! What came instead of success, whatever the operation.

use std::error::Error as StdError;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::RequestId;

/// What came instead of success: the service's refusal, or why there is none.
///
/// Bodies are in none of its parts.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What it means for whoever sent the request.
    pub(crate) meaning: Meaning,
    /// The status of the HTTP response, if one came.
    pub(crate) status: Option<u16>,
    /// The service's code, such as `NoSuchBucket`.
    pub(crate) code: Option<String>,
    /// The service's words.
    pub(crate) message: Option<String>,
    /// The service's name for the request, which its support asks for.
    pub(crate) request_id: Option<String>,
    /// The error that the client made of it.
    pub(crate) source: Box<dyn StdError + Send + Sync>,
}

impl Failure {
    /// Whether the service's code is this one.
    pub(crate) fn says(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}

/// What a failure means for whoever sent the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The request's condition does not hold: 412.
    Precondition,
    /// There is no such object: 404, but not because of the bucket.
    NoSuchKey,
    /// Another conditional request for the key was under way: 409. The same request may be sent again.
    ConcurrentRequest,
    /// The service asks for fewer requests. It says so before it does anything, but a 503 may come from
    /// elsewhere too, so a write that gets it is in doubt.
    Throttled,
    /// No answer came, or one that says that the service failed: a write may have been done.
    Unanswered,
    /// The request never left.
    NotSent,
    /// The service has decided, and would decide the same again.
    Refused,
}

impl Meaning {
    /// Whether a write that failed like this may have been done.
    pub(crate) fn leaves_doubt(self) -> bool {
        matches!(self, Self::Throttled | Self::Unanswered)
    }

    /// Whether the same request may succeed a moment later.
    pub(crate) fn is_passing(self) -> bool {
        matches!(self, Self::Throttled | Self::Unanswered | Self::ConcurrentRequest)
    }
}

impl Failure {
    /// An answer that came but could not be read.
    pub(crate) fn unreadable(error: impl StdError + Send + Sync + 'static) -> Self {
        Self {
            meaning: Meaning::Unanswered,
            status: None,
            code: None,
            message: None,
            request_id: None,
            source: Box::new(error),
        }
    }
}

impl<E> From<SdkError<E>> for Failure
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    fn from(error: SdkError<E>) -> Self {
        let status = error.raw_response().map(|response| response.status().as_u16());
        let code = error.code().map(str::to_owned);
        Self {
            meaning: meaning_of(&error, status, code.as_deref()),
            status,
            code,
            message: error.message().map(str::to_owned),
            request_id: error.meta().request_id().map(str::to_owned),
            source: error.into_source().unwrap_or_else(Into::into),
        }
    }
}

fn meaning_of<E>(error: &SdkError<E>, status: Option<u16>, code: Option<&str>) -> Meaning {
    match error {
        SdkError::ConstructionFailure(_) => return Meaning::NotSent,
        SdkError::DispatchFailure(failure) if failure.is_user() => return Meaning::NotSent,
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) => return Meaning::Unanswered,
        _ => {}
    }
    match (status, code) {
        // Where the bucket itself is missing, nothing can be said of its keys.
        (_, Some("NoSuchBucket")) => Meaning::Refused,
        (_, Some("SlowDown" | "ThrottlingException" | "Throttling" | "RequestLimitExceeded"))
        | (Some(429), _) => Meaning::Throttled,
        (_, Some("RequestTimeout" | "InternalError")) => Meaning::Unanswered,
        (Some(412), _) => Meaning::Precondition,
        (Some(404), None | Some("NoSuchKey" | "NotFound" | "NoSuchVersion")) => Meaning::NoSuchKey,
        (Some(409), Some("ConditionalRequestConflict" | "OperationAborted")) => {
            Meaning::ConcurrentRequest
        }
        (Some(503), _) => Meaning::Throttled,
        (Some(status), _) if status >= 500 => Meaning::Unanswered,
        // A response that the client could not read.
        (Some(200..=299) | None, _) => Meaning::Unanswered,
        _ => Meaning::Refused,
    }
}
