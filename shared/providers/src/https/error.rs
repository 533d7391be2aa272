use std::error::Error;
use std::fmt::Write;
use std::io;

/// No answer came, or one that is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpsError {
    /// The address would carry secrets in the clear.
    #[error(
        "{0} is not reached over HTTPS, so that tokens and reports could be read on the way; give an address that begins with \
         https://"
    )]
    Insecure(String),
    /// What should lead to it cannot.
    #[error("{0}")]
    Proxy(String),
    /// It leads from one address to the next without end, or nowhere.
    #[error("{0} redirects too often, or to nothing that is an address")]
    Redirection(String),
    /// More came than was asked for.
    #[error(
        "{0} answers more than {1} bytes, the most that is taken, so that nobody can fill the memory or the disk of this machine"
    )]
    TooLarge(String, u64),
    /// Nothing came in time.
    #[error("{0} did not answer within {1} seconds")]
    TimedOut(String, u64),
    /// The connection failed.
    #[error("{0} cannot be reached: {cause}", cause = causes(&**.1))]
    Unreachable(String, #[source] Box<dyn Error + Send + Sync>),
    /// The answer began and did not end.
    #[error("the answer of {0} broke off: {cause}", cause = causes(&**.1))]
    BrokenOff(String, #[source] Box<dyn Error + Send + Sync>),
    /// No host can be verified.
    #[error(
        "the system's root certificates cannot be read, so that no host can be verified: {0}. Install them (the package \
         ca-certificates), or name a file of certificates in SSL_CERT_FILE"
    )]
    NoRoots(String),
    /// The answer came and could not be kept.
    #[error("the answer cannot be written: {0}")]
    Write(#[source] io::Error),
}

impl HttpsError {
    /// Whether the same request may succeed in a moment.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            HttpsError::TimedOut(..) | HttpsError::Unreachable(..) | HttpsError::BrokenOff(..)
        )
    }
}

/// An error with what led to it: the outermost of a client's errors say only that it failed.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            let _ = write!(text, ": {words}");
        }
        next = cause.source();
    }
    text
}
