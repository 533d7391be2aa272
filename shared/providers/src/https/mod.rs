//! Requests over HTTPS: to registries and mirrors of providers and modules, to repository hosts, and to addresses that are
//! told of runs.

mod client;
mod error;

pub use client::HttpsClient;
pub use error::HttpsError;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
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

/// The address that an answer came from, after all redirections: what relative addresses in it are relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredFrom(pub Url);
