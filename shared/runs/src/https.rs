//! Requests to repository hosts and to addresses that are told of runs.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, LOCATION};
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::io;
use std::time::Duration;

/// How often a redirection is followed.
const REDIRECTIONS: usize = 5;

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
    /// It leads from one address to the next without end, or nowhere.
    #[error("{0} redirects too often, or to nothing that is an address")]
    Redirection(String),
    /// More came than was asked for.
    #[error("{0} answers more than {1} bytes, which protects the function's memory")]
    TooLarge(String, u64),
    /// Nothing came in time.
    #[error("{0} did not answer within {1} seconds")]
    TimedOut(String, u64),
    /// The connection failed.
    #[error("{0} cannot be reached: {1}")]
    Unreachable(String, #[source] Box<dyn std::error::Error + Send + Sync>),
}

impl HttpsError {
    /// Whether the same request may succeed in a moment.
    pub fn may_pass(&self) -> bool {
        matches!(self, HttpsError::TimedOut(..) | HttpsError::Unreachable(..))
    }
}

/// Sends requests.
#[async_trait]
pub trait Https: Send + Sync {
    /// The answer, of at most `limit` bytes. Redirections of requests without a body are followed; what authorises is sent to the
    /// first host alone.
    ///
    /// # Errors
    /// Where no answer came or it is not taken. A refusal by the server is an answer.
    async fn send(
        &self,
        request: Request<Bytes>,
        limit: u64,
    ) -> Result<Response<Bytes>, HttpsError>;
}

/// A client that verifies servers by the system's roots.
#[derive(Clone, Debug)]
pub struct HttpsClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    patience: Duration,
}

impl HttpsClient {
    /// Waits this long for each answer.
    ///
    /// # Errors
    /// Where the system has no roots.
    pub fn new(patience: Duration) -> io::Result<HttpsClient> {
        let connector = HttpsConnectorBuilder::new()
            .with_native_roots()?
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(HttpsClient { client, patience })
    }

    async fn once(
        &self,
        request: Request<Bytes>,
        limit: u64,
    ) -> Result<Response<Bytes>, HttpsError> {
        let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let loopback = matches!(request.uri().host(), Some("127.0.0.1" | "localhost" | "[::1]"));
        if request.uri().scheme_str() != Some("https") && !loopback {
            return Err(HttpsError::Insecure(host));
        }
        let answer = async {
            let answer = self.client.request(request.map(Full::new)).await;
            let answer =
                answer.map_err(|error| HttpsError::Unreachable(host.clone(), error.into()))?;
            let (head, body) = answer.into_parts();
            let bound = usize::try_from(limit).unwrap_or(usize::MAX);
            let body =
                Limited::new(body, bound).collect().await.map_err(|error| match error
                    .is::<LengthLimitError>(
                ) {
                    true => HttpsError::TooLarge(host.clone(), limit),
                    false => HttpsError::Unreachable(host.clone(), error),
                })?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        let timed_out = |_| HttpsError::TimedOut(host.clone(), self.patience.as_secs());
        tokio::time::timeout(self.patience, answer).await.map_err(timed_out)?
    }
}

#[async_trait]
impl Https for HttpsClient {
    async fn send(
        &self,
        request: Request<Bytes>,
        limit: u64,
    ) -> Result<Response<Bytes>, HttpsError> {
        let first = request.uri().clone();
        let mut headers = request.headers().clone();
        let followed = *request.method() == Method::GET;
        let mut answer = self.once(request, limit).await?;
        let mut at = first.clone();
        for _ in 0..REDIRECTIONS {
            let location = answer
                .headers()
                .get(LOCATION)
                .filter(|_| followed && answer.status().is_redirection());
            let Some(location) = location else { return Ok(answer) };
            let lost = || HttpsError::Redirection(at.to_string());
            let next: Uri =
                location.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(lost)?;
            if next.authority() != at.authority() {
                headers.remove(AUTHORIZATION);
                headers.remove("private-token");
            }
            let mut request = Request::get(next.clone()).body(Bytes::new()).map_err(|_| lost())?;
            *request.headers_mut() = headers.clone();
            request.headers_mut().remove(http::header::HOST);
            at = next;
            answer = self.once(request, limit).await?;
        }
        Err(HttpsError::Redirection(first.to_string()))
    }
}
