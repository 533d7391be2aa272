use super::route::Route;
use super::{AnsweredFrom, Https, HttpsError, Proxies};
use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, HeaderMap, HeaderName, LOCATION, PROXY_AUTHORIZATION, USER_AGENT};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use url::Url;

/// How often a redirection is followed.
const REDIRECTIONS: usize = 5;

type Client = legacy::Client<HttpsConnector<Route>, Full<Bytes>>;

/// A client that verifies servers by the system's roots, or by those that it is given.
#[derive(Clone, Debug)]
pub struct HttpsClient {
    /// Made for the first request: whoever needs no host needs no roots. Or why it cannot be.
    client: Arc<OnceLock<Result<Client, String>>>,
    /// Roots instead of the system's.
    roots: Option<Arc<RootCertStore>>,
    proxies: Proxies,
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
    /// Waits this long for the head of each answer, and then for its body: the whole of one that is sent for, each part of one
    /// that is downloaded.
    pub fn new(patience: Duration) -> HttpsClient {
        HttpsClient {
            client: Arc::default(),
            roots: None,
            proxies: Proxies::default(),
            patience,
            plain: Plain::Loopback,
        }
    }

    /// Verifies servers by these roots alone.
    #[must_use]
    pub fn with_roots(self, roots: RootCertStore) -> HttpsClient {
        HttpsClient { client: Arc::default(), roots: Some(Arc::new(roots)), ..self }
    }

    /// Reaches hosts through proxies.
    #[must_use]
    pub fn with_proxies(self, proxies: Proxies) -> HttpsClient {
        HttpsClient { client: Arc::default(), proxies, ..self }
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

    fn client(&self) -> Result<&Client, HttpsError> {
        let made = || self.make().map_err(|error| error.to_string());
        let client = self.client.get_or_init(made).as_ref();
        client.map_err(|error| HttpsError::NoRoots(error.clone()))
    }

    fn make(&self) -> io::Result<Client> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = match &self.roots {
            Some(roots) => config.with_root_certificates(roots.clone()),
            None => config.with_native_roots()?,
        };
        let config = config.with_no_client_auth();
        let route = Route::new(config.clone(), self.proxies.clone());
        let connector = HttpsConnectorBuilder::new().with_tls_config(config);
        let connector = connector.https_or_http().enable_http1().wrap_connector(route);
        Ok(legacy::Client::builder(TokioExecutor::new()).build(connector))
    }

    fn admits(&self, request: &Request<Bytes>) -> bool {
        if request.uri().scheme_str() == Some("https") {
            return true;
        }
        let loopback = matches!(request.uri().host(), Some("127.0.0.1" | "localhost" | "[::1]"));
        match self.plain {
            Plain::Nowhere => false,
            Plain::Loopback => loopback,
            Plain::WithoutSecrets => loopback || request.headers().keys().all(is_harmless),
        }
    }

    /// The head of one answer.
    async fn once(&self, mut request: Request<Bytes>) -> Result<Response<Incoming>, HttpsError> {
        let host = host_of(&request);
        if !self.admits(&request) {
            return Err(HttpsError::Insecure(host));
        }
        let proxy = self.proxies.of(request.uri());
        let proxy = proxy.map_err(|why| HttpsError::Proxy(why.to_owned()))?;
        // A proxy that makes a tunnel was asked for it, and the host has no use for what authorises there.
        if request.uri().scheme_str() != Some("https")
            && let Some(authorization) = proxy.and_then(|proxy| proxy.authorization.clone())
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
        }
        let answer = self.client()?.request(request.map(Full::new));
        match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => answer.map_err(|error| HttpsError::Unreachable(host, error.into())),
            Err(_) => Err(self.timed_out(&host)),
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
                headers = harmless(&headers);
            }
            let mut request = Request::get(next.as_str()).body(Bytes::new()).map_err(|_| lost())?;
            *request.headers_mut() = headers.clone();
            at = next;
            host = host_of(&request);
            answer = self.once(request).await?;
        }
        Err(lost())
    }

    /// Writes the body of an answer to `into` as it comes.
    async fn copy(
        &self,
        host: &str,
        mut body: Incoming,
        limit: u64,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, HttpsError> {
        let mut length = 0;
        loop {
            let part = tokio::time::timeout(self.patience, body.frame()).await;
            let Some(part) = part.map_err(|_| self.timed_out(host))? else { break };
            let part = part.map_err(|e| HttpsError::BrokenOff(host.to_owned(), e.into()))?;
            let Ok(data) = part.into_data() else { continue };
            length += data.len() as u64;
            if length > limit {
                return Err(HttpsError::TooLarge(host.to_owned(), limit));
            }
            into.write_all(&data).await.map_err(HttpsError::Write)?;
        }
        into.flush().await.map_err(HttpsError::Write)?;
        Ok(length)
    }

    fn timed_out(&self, host: &str) -> HttpsError {
        HttpsError::TimedOut(host.to_owned(), self.patience.as_secs())
    }
}

/// What may go to a host that was not asked first, or in the clear: whatever else a request carries may authorise who reads it.
fn is_harmless(name: &HeaderName) -> bool {
    *name == ACCEPT || *name == USER_AGENT
}

fn harmless(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| is_harmless(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whom a request is for, in words that hold no secret: paths and queries may.
fn host_of(request: &Request<Bytes>) -> String {
    let authority = request.uri().authority().map_or("", |authority| authority.as_str());
    authority.rsplit('@').next().unwrap_or_default().to_owned()
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
        let mut content = Vec::new();
        let copied = self.copy(&host, body, limit, &mut content);
        let copied = tokio::time::timeout(self.patience, copied).await;
        copied.unwrap_or_else(|_| Err(self.timed_out(&host)))?;
        Ok(Response::from_parts(head, content.into()))
    }

    async fn download(
        &self,
        request: Request<Bytes>,
        limit: u64,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<Response<u64>, HttpsError> {
        let (answer, host) = self.head(request).await?;
        let (head, body) = answer.into_parts();
        let length = match head.status.is_success() {
            true => self.copy(&host, body, limit, into).await?,
            false => 0,
        };
        Ok(Response::from_parts(head, length))
    }
}
