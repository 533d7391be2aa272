use super::{AnsweredFrom, Https, HttpsError};
use async_trait::async_trait;
use bytes::Bytes;
use http::header::{HOST, LOCATION};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use url::Url;

/// How often a redirection is followed.
const REDIRECTIONS: usize = 5;
/// What authorises and must not reach another host.
const SECRETS: [&str; 2] = ["authorization", "private-token"];

/// A client that verifies servers by the system's roots, or by those that it is given.
#[derive(Clone, Debug)]
pub struct HttpsClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    patience: Duration,
    plain: Plain,
}

/// Which hosts may be reached without encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plain {
    /// None.
    Nowhere,
    /// This machine.
    Loopback,
    /// All, where nothing that authorises goes along.
    WithoutSecrets,
}

impl HttpsClient {
    /// Waits this long for the head of each answer, and for the next part of its body.
    ///
    /// # Errors
    /// Where the system has no roots.
    pub fn new(patience: Duration) -> io::Result<HttpsClient> {
        let connector = HttpsConnectorBuilder::new().with_native_roots()?;
        Ok(HttpsClient::over(connector.https_or_http().enable_http1().build(), patience))
    }

    /// As [`HttpsClient::new`], verifying servers by these roots alone.
    ///
    /// # Errors
    /// Where nothing can be verified at all.
    pub fn with_roots(roots: RootCertStore, patience: Duration) -> io::Result<HttpsClient> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(config);
        Ok(HttpsClient::over(connector.https_or_http().enable_http1().build(), patience))
    }

    fn over(connector: HttpsConnector<HttpConnector>, patience: Duration) -> HttpsClient {
        let client = Client::builder(TokioExecutor::new()).build(connector);
        HttpsClient { client, patience, plain: Plain::Loopback }
    }

    /// Reaches hosts without encryption too, with requests that carry nothing that authorises: for content whose checksum is
    /// known, or that its owner publishes in the clear.
    #[must_use]
    pub fn with_plain_http(self) -> HttpsClient {
        HttpsClient { plain: Plain::WithoutSecrets, ..self }
    }

    /// Reaches no host without encryption, this machine included: where others choose the addresses, a redirection must not
    /// lead to what listens here.
    #[must_use]
    pub fn https_only(self) -> HttpsClient {
        HttpsClient { plain: Plain::Nowhere, ..self }
    }

    fn admits(&self, request: &Request<Bytes>) -> bool {
        if request.uri().scheme_str() == Some("https") {
            return true;
        }
        let loopback = matches!(request.uri().host(), Some("127.0.0.1" | "localhost" | "[::1]"));
        let secret = SECRETS.iter().any(|name| request.headers().contains_key(*name));
        match self.plain {
            Plain::Nowhere => false,
            Plain::Loopback => loopback,
            Plain::WithoutSecrets => loopback || !secret,
        }
    }

    /// The head of one answer.
    async fn once(&self, request: Request<Bytes>) -> Result<Response<Incoming>, HttpsError> {
        let host = host_of(&request);
        if !self.admits(&request) {
            return Err(HttpsError::Insecure(host));
        }
        let answer = self.client.request(request.map(Full::new));
        match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => answer.map_err(|error| HttpsError::Unreachable(host, error.into())),
            Err(_) => Err(HttpsError::TimedOut(host, self.patience.as_secs())),
        }
    }

    /// The head of the answer after all redirections, and who gave it.
    async fn head(
        &self,
        request: Request<Bytes>,
    ) -> Result<(Response<Incoming>, String), HttpsError> {
        let first = host_of(&request);
        let lost = || HttpsError::Redirection(first.clone());
        let mut at: Url = request.uri().to_string().parse().map_err(|_| lost())?;
        let mut headers = request.headers().clone();
        let followed = *request.method() == Method::GET;
        let mut host = host_of(&request);
        let mut answer = self.once(request).await?;
        for _ in 0..REDIRECTIONS {
            let location = answer.headers().get(LOCATION);
            let location = location.filter(|_| followed && answer.status().is_redirection());
            let Some(location) = location else {
                answer.extensions_mut().insert(AnsweredFrom(at));
                return Ok((answer, host));
            };
            let next = location.to_str().ok().and_then(|text| at.join(text).ok());
            let next = next.ok_or_else(lost)?;
            if next.origin() != at.origin() {
                SECRETS.iter().for_each(|name| drop(headers.remove(*name)));
            }
            let mut request = Request::get(next.as_str()).body(Bytes::new()).map_err(|_| lost())?;
            *request.headers_mut() = headers.clone();
            request.headers_mut().remove(HOST);
            at = next;
            host = host_of(&request);
            answer = self.once(request).await?;
        }
        Err(lost())
    }
}

/// Whom a request is for, in words that hold no secret: paths and queries may.
fn host_of(request: &Request<Bytes>) -> String {
    request
        .uri()
        .authority()
        .map(|a| a.as_str().rsplit('@').next().unwrap_or_default())
        .unwrap_or_default()
        .to_owned()
}

#[async_trait]
impl Https for HttpsClient {
    async fn send(
        &self,
        request: Request<Bytes>,
        limit: u64,
    ) -> Result<Response<Bytes>, HttpsError> {
        let (answer, host) = self.head(request).await?;
        let (head, body) = answer.into_parts();
        let bound = usize::try_from(limit).unwrap_or(usize::MAX);
        let body = Limited::new(body, bound).collect();
        let body = tokio::time::timeout(self.patience, body).await;
        let body = body.map_err(|_| HttpsError::TimedOut(host.clone(), self.patience.as_secs()))?;
        let body = body.map_err(|error| match error.is::<LengthLimitError>() {
            true => HttpsError::TooLarge(host, limit),
            false => HttpsError::BrokenOff(host, error),
        })?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }

    async fn download(
        &self,
        request: Request<Bytes>,
        limit: u64,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<Response<u64>, HttpsError> {
        let (answer, host) = self.head(request).await?;
        let (head, mut body) = answer.into_parts();
        let mut length = 0;
        while head.status.is_success() {
            let part = tokio::time::timeout(self.patience, body.frame()).await;
            let part =
                part.map_err(|_| HttpsError::TimedOut(host.clone(), self.patience.as_secs()))?;
            let Some(part) = part else { break };
            let part = part.map_err(|e| HttpsError::BrokenOff(host.clone(), e.into()))?;
            let Ok(data) = part.into_data() else { continue };
            length += data.len() as u64;
            if length > limit {
                return Err(HttpsError::TooLarge(host, limit));
            }
            into.write_all(&data).await.map_err(HttpsError::Write)?;
        }
        into.flush().await.map_err(HttpsError::Write)?;
        Ok(Response::from_parts(head, length))
    }
}
