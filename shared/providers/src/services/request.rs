use super::{HostName, Services, Token};
use crate::https::{AnsweredFrom, HttpsError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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

fn request(url: &Url, token: Option<&Token>) -> Result<Request<Bytes>, HttpsError> {
    let host = || url.host_str().unwrap_or_default().to_owned();
    let mut request = Request::get(without_user(url).as_str())
        .header(USER_AGENT, concat!("Plumbline/", env!("CARGO_PKG_VERSION")))
        .header("x-terraform-version", COMPATIBLE_TERRAFORM_VERSION)
        .header(ACCEPT, "application/json, */*;q=0.5");
    let authorization = match token {
        Some(token) => Some(format!("Bearer {}", token.reveal())),
        None => basic(url),
    };
    if let Some(authorization) = authorization {
        let value = HeaderValue::from_str(&authorization);
        let mut value = value.map_err(|_| HttpsError::Unsendable(host()))?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    request.body(Bytes::new()).map_err(|_| HttpsError::Redirection(host()))
}

/// A name and password that stand in an address.
fn basic(url: &Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut both = decoded(url.username());
    both.push(b':');
    both.extend(decoded(url.password().unwrap_or_default()));
    Some(format!("Basic {}", STANDARD.encode(both)))
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

impl Services {
    /// Asks a host, with its token where there is one: `host` is whose token goes along, wherever the host has its service.
    /// What may pass in a moment is asked twice.
    ///
    /// # Errors
    /// Where no answer came. A refusal is an answer.
    pub async fn get(
        &self,
        url: &Url,
        host: Option<&HostName>,
        limit: u64,
    ) -> Result<Answer<Bytes>, HttpsError> {
        let token = host.and_then(|host| self.credentials().token(host));
        let ask =
            || async { Ok(answer(url, self.https().send(request(url, token)?, limit).await?)) };
        match ask().await {
            Ok(answer) if may_pass(answer.status) => {}
            Err(error) if HttpsError::may_pass(&error) => {}
            answer => return answer,
        }
        tokio::time::sleep(self.pause()).await;
        ask().await
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
