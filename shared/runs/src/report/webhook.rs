//! An HTTPS address that is told of runs.

use super::{Notifier, NotifyError, Report};
use crate::secrets::Secret;
use async_trait::async_trait;
use bytes::Bytes;
use hmac::{Hmac, Mac};
use http::Request;
use http::header::CONTENT_TYPE;
use providers::https::Https;
use sha2::Sha256;
use std::sync::Arc;
use url::Url;

/// The header with the HMAC-SHA256 of the body, in hexadecimal after `sha256=`.
const SIGNATURE: &str = "x-plumbline-signature-256";
/// Bytes of an answer, which nobody reads.
const ANSWER: u64 = 64 << 10;

/// An address that gets every report as JSON, signed.
pub struct SignedWebhook {
    /// The way there.
    pub https: Arc<dyn Https>,
    /// The address.
    pub url: String,
    /// What signs.
    pub secret: Secret,
}

#[async_trait]
impl Notifier for SignedWebhook {
    async fn notify(&self, report: &Report) -> Result<(), NotifyError> {
        let failed = |error: &dyn std::fmt::Display| NotifyError {
            to: host(&self.url),
            problem: error.to_string(),
        };
        let body = serde_json::to_vec(report).map_err(|error| failed(&error))?;
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.expose().as_bytes())
            .map_err(|error| failed(&error))?;
        mac.update(&body);
        let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
        let request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .header(SIGNATURE, signature)
            .body(Bytes::from(body))
            .map_err(|error| failed(&error))?;
        let answer = self.https.send(request, ANSWER).await.map_err(|error| failed(&error))?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(failed(&format_args!("it answers {status}"))),
        }
    }
}

/// The host of an address, which is all that is told of it: what follows may be what authorises there.
pub(super) fn host(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| "the address of notifications.webhook".to_owned())
}
