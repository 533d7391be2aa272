//! Requests over HTTPS: to registries and mirrors of providers and modules, to repository hosts, and to addresses that are
//! told of runs.

mod client;
mod error;
mod proxies;
mod route;

pub use client::HttpsClient;
pub use error::HttpsError;
pub use proxies::Proxies;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use url::Url;

/// Sends requests.
#[async_trait]
pub trait Https: Send + Sync {
    /// The answer, of at most `limit` bytes. Redirections of requests without a body are followed; whatever may
    /// authorise is sent to the first host alone. Among the answer's extensions is [`AnsweredFrom`], where that is known.
    ///
    /// # Errors
    /// Where no answer came or it is not taken. A refusal by the server is an answer.
    async fn send(
        &self,
        request: Request<Bytes>,
        limit: u64,
    ) -> Result<Response<Bytes>, HttpsError>;

    /// As [`Https::send`]; the body of an answer that grants the request is written to `into` as it comes, and the answer carries
    /// its length. What was written before an error is no use to anybody.
    ///
    /// # Errors
    /// As [`Https::send`], and where it cannot be written.
    async fn download(
        &self,
        request: Request<Bytes>,
        limit: u64,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<Response<u64>, HttpsError> {
        let (head, body) = self.send(request, limit).await?.into_parts();
        if head.status.is_success() {
            into.write_all(&body).await.map_err(HttpsError::Write)?;
            into.flush().await.map_err(HttpsError::Write)?;
        }
        Ok(Response::from_parts(head, body.len() as u64))
    }
}

/// An address as people may read it: without a name and password, and without its query, which may be as good as these.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // An address that cannot have them has none.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.to_string()
}

/// What the name and password in an address make of a request's authorization.
pub fn basic(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut both = decoded(url.username());
    both.push(b':');
    both.extend(decoded(url.password().unwrap_or_default()));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(both))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Octets that an address writes as `%` and two digits.
fn decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = (*first == b'%').then(|| tail.get(..2)).flatten();
        match digits.and_then(|digits| hex::decode(digits).ok()) {
            Some(octet) => {
                decoded.extend(octet);
                rest = &tail[2..];
            }
            None => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    decoded
}

/// The address that an answer came from, after all redirections: what relative addresses in it are relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredFrom(pub Url);
