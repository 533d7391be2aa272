use super::{HostName, RequestError, Services};
use crate::https::{self, AnsweredFrom, HttpsError};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, USER_AGENT};
use http::{HeaderValue, Request, Response, StatusCode};
use language::version::COMPATIBLE_TERRAFORM_VERSION;
use tokio::io::AsyncWrite;
use url::Url;

/// A host's answer.
#[derive(Clone, Debug)]
pub struct Answer<B> {
    /// Whether it grants the request.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Where it came from, after all redirections.
    pub url: Url,
    /// The content, or its length where it was written elsewhere.
    pub body: B,
}

impl<B> Answer<B> {
    /// Whether the content is said to be JSON.
    pub fn is_json(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next());
        kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    }
    /// Whether the host asks for other credentials.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    }
}

/// Whether the same request may be granted in a moment.
fn may_pass(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

fn request(url: &Url, token: Option<HeaderValue>) -> Result<Request<Bytes>, HttpsError> {
    let mut request = Request::get(without_user(url).as_str())
        .header(USER_AGENT, concat!("Plumbline/", env!("CARGO_PKG_VERSION")))
        .header("x-terraform-version", COMPATIBLE_TERRAFORM_VERSION)
        .header(ACCEPT, "application/json, */*;q=0.5");
    if let Some(authorization) = token.or_else(|| https::basic(url)) {
        request = request.header(AUTHORIZATION, authorization);
    }
    let host = || url.host_str().unwrap_or_default().to_owned();
    request.body(Bytes::new()).map_err(|_| HttpsError::Redirection(host()))
}

impl Services {
    /// Asks a host, with its token where there is one: `host` is whose token goes along, wherever the host has its service.
    /// What may pass in a moment is asked twice.
    ///
    /// # Errors
    /// Where no answer came, or its token cannot be had. A refusal is an answer.
    pub async fn get(
        &self,
        url: &Url,
        host: Option<&HostName>,
        limit: u64,
    ) -> Result<Answer<Bytes>, RequestError> {
        let token = match host {
            Some(host) => self.bearer(host).await?,
            None => None,
        };
        let ask = || async {
            let request = request(url, token.clone())?;
            Ok::<_, HttpsError>(answer(url, self.https().send(request, limit).await?))
        };
        match ask().await {
            Ok(answer) if may_pass(answer.status) => {}
            Err(error) if error.may_pass() => {}
            answer => return Ok(answer?),
        }
        tokio::time::sleep(self.pause()).await;
        Ok(ask().await?)
    }

    /// What a host's token makes of a request.
    async fn bearer(&self, host: &HostName) -> Result<Option<HeaderValue>, RequestError> {
        let token = self.token(host).await;
        let token =
            token.map_err(|source| RequestError::Credentials { host: host.clone(), source })?;
        let Some(token) = token else { return Ok(None) };
        let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
        let mut value = value.map_err(|_| RequestError::Unsendable { host: host.clone() })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// Writes what there is at an address to `into`. No token goes along. Asked once: what was written before an error has to be
    /// thrown away first.
    ///
    /// # Errors
    /// Where no answer came, it broke off, or it cannot be written. A refusal is an answer.
    pub async fn download(
        &self,
        url: &Url,
        limit: u64,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<Answer<u64>, HttpsError> {
        Ok(answer(url, self.https().download(request(url, None)?, limit, into).await?))
    }
}

fn answer<B>(url: &Url, response: Response<B>) -> Answer<B> {
    let (head, body) = response.into_parts();
    let from = head.extensions.get::<AnsweredFrom>();
    let url = from.map_or_else(|| url.clone(), |from| from.0.clone());
    Answer { status: head.status, headers: head.headers, url, body }
}

/// An address without the name and password in it.
fn without_user(url: &Url) -> Url {
    let mut url = url.clone();
    // An address with a host can do without them.
    let _ = (url.set_username(""), url.set_password(None));
    url
}
