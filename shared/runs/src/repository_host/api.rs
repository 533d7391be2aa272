//! Requests to a host's REST API.

use super::HostError;
use crate::secrets::Secret;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use providers::https::Https;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Bytes of an answer that is no archive.
const ANSWER: u64 = 8 << 20;

/// Comments of one page, which is the most that hosts give.
const PAGE: usize = 100;
/// Pages that are looked through for a comment of ours.
const PAGES: usize = 20;

#[derive(Deserialize)]
struct Comment {
    id: u64,
    #[serde(default)]
    body: Option<String>,
}

/// A host's API, with what authorises us.
pub(super) struct Api {
    pub(super) https: Arc<dyn Https>,
    /// Without a slash at its end.
    pub(super) root: String,
    /// The header that carries the token, and the token's form in it.
    pub(super) token: Option<(HeaderName, Secret)>,
    /// What kind of answer is asked for.
    pub(super) accept: &'static str,
}

impl Api {
    pub(super) async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, HostError> {
        let answer = self.send(Method::GET, path, Bytes::new(), ANSWER).await?;
        serde_json::from_slice(&answer).map_err(|error| {
            self.failed(format!("answers {path} with something else: {error}"), false)
        })
    }

    pub(super) async fn get_bytes(&self, path: &str, limit: u64) -> Result<Bytes, HostError> {
        self.send(Method::GET, path, Bytes::new(), limit).await
    }

    pub(super) async fn write(
        &self,
        method: Method,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<(), HostError> {
        self.send(method, path, body.to_string().into(), ANSWER).await.map(drop)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        limit: u64,
    ) -> Result<Bytes, HostError> {
        let mut request = Request::builder()
            .method(method.clone())
            .uri(format!("{}{path}", self.root))
            .header(USER_AGENT, "plumbline")
            .header(ACCEPT, self.accept);
        if let Some((name, token)) = &self.token {
            let mut value = HeaderValue::from_str(token.expose()).map_err(|_| {
                self.failed(
                    "needs a token, and the configured one is no header's value".into(),
                    false,
                )
            })?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(body)
            .map_err(|e| self.failed(format!("has no such address: {e}"), false))?;
        let answer = self.https.send(request, limit).await;
        let answer =
            answer.map_err(|e| self.failed(format!("gave no answer: {e}"), e.may_pass()))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer.into_body());
        }
        let why = match status {
            StatusCode::UNAUTHORIZED => "; the token is wrong or expired",
            StatusCode::FORBIDDEN => {
                "; the token's permissions do not suffice, or its requests are used up"
            }
            StatusCode::NOT_FOUND => "; it does not exist, or the token may not see it",
            _ => "",
        };
        let may_pass = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        Err(self.failed(format!("refuses {method} {path} with {status}{why}"), may_pass))
    }

    /// The number of the comment that begins with a marker, of those that are listed at a path; the newest pages are not looked
    /// at where there are very many.
    pub(super) async fn comment(&self, path: &str, marker: &str) -> Result<Option<u64>, HostError> {
        for page in 1..=PAGES {
            let path = format!("{path}?per_page={PAGE}&page={page}");
            let found: Vec<Comment> = self.get(&path).await?;
            let ours = found.iter().find(|comment| {
                comment.body.as_deref().is_some_and(|body| body.starts_with(marker))
            });
            if let Some(ours) = ours {
                return Ok(Some(ours.id));
            }
            if found.len() < PAGE {
                break;
            }
        }
        Ok(None)
    }

    pub(super) fn failed(&self, problem: String, may_pass: bool) -> HostError {
        HostError { host: self.root.clone(), problem, may_pass }
    }
}

/// A part of a path.
pub(super) fn segment(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
