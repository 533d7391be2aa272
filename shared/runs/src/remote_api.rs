//! The API of a deployed bundle, asked from elsewhere: requests are signed with AWS credentials, or carry a token.

use crate::secrets::Secret;
use aws_config::SdkConfig;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use providers::https::{Https, HttpsError};
use serde_json::Value;
use std::sync::Arc;
use url::form_urlencoded::byte_serialize;

/// The service that signatures are for.
const SERVICE: &str = "execute-api";
/// Bytes of an answer: the text of a run is the longest.
const ANSWER: u64 = 64 << 20;

/// What proves who asks.
pub enum Authorization {
    /// AWS credentials.
    Signature(Box<SdkConfig>),
    /// A token of the issuer that the deployment trusts.
    Token(Secret),
}

/// The API of a deployment.
pub struct RemoteApi {
    https: Arc<dyn Https>,
    address: String,
    authorization: Authorization,
}

/// A request was not answered, or refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteApiError {
    /// The address is none.
    #[error(
        "{0:?} is no address of an API; it is the output Api of the stack, as https://….amazonaws.com"
    )]
    Address(String),
    /// The request cannot be signed.
    #[error(
        "the request cannot be signed: {0}; log in to AWS, or set PLUMB_TOKEN where the deployment takes tokens"
    )]
    Unsigned(String),
    /// No answer came.
    #[error(transparent)]
    Https(#[from] HttpsError),
    /// The deployment refuses.
    #[error("{address} answers {status}: {message}")]
    Refused {
        /// The deployment.
        address: String,
        /// How.
        status: StatusCode,
        /// In its words.
        message: String,
    },
    /// The answer is of something else.
    #[error("{0} answers with something else than a deployment of Plumbline does")]
    Unintelligible(String),
}

impl RemoteApi {
    /// The API at an address, as the stack's output `Api` has it.
    pub fn new(https: Arc<dyn Https>, address: &str, authorization: Authorization) -> RemoteApi {
        let address = address.trim_end_matches('/').to_owned();
        RemoteApi { https, address, authorization }
    }

    /// Asks for something.
    ///
    /// # Errors
    /// Where no answer comes, or a refusal.
    pub async fn get(&self, path: &str) -> Result<Value, RemoteApiError> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    /// Has something done.
    ///
    /// # Errors
    /// As [`RemoteApi::get`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, RemoteApiError> {
        self.send(Method::POST, path, body.to_string().into()).await
    }

    /// Asks for a page to keep: one that sends nothing.
    ///
    /// # Errors
    /// As [`RemoteApi::get`].
    pub async fn page(&self, path: &str) -> Result<String, RemoteApiError> {
        // A refusal is read as JSON, which no browser does.
        let accept = "text/html, application/json;q=0.5";
        let answer = self.answer(Method::GET, path, Bytes::new(), accept).await?;
        let unintelligible = |_| RemoteApiError::Unintelligible(self.address.clone());
        String::from_utf8(answer.to_vec()).map_err(unintelligible)
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Value, RemoteApiError> {
        let answer = self.answer(method, path, body, "application/json").await?;
        let unintelligible = |_| RemoteApiError::Unintelligible(self.address.clone());
        serde_json::from_slice(&answer).map_err(unintelligible)
    }

    /// The body of an answer that is no refusal.
    async fn answer(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        accept: &'static str,
    ) -> Result<Bytes, RemoteApiError> {
        let wrong = || RemoteApiError::Address(self.address.clone());
        let uri: Uri = format!("{}{path}", self.address).parse().map_err(|_| wrong())?;
        let host = uri.authority().ok_or_else(wrong)?.to_string();
        let headers = match &self.authorization {
            Authorization::Token(token) => {
                vec![(AUTHORIZATION.to_string(), format!("Bearer {}", token.expose()))]
            }
            Authorization::Signature(sdk) => signature(sdk, &method, &uri, &host, &body).await?,
        };
        let mut request =
            Request::builder().method(method).uri(uri).body(body).map_err(|_| wrong())?;
        for (name, value) in headers {
            let name = HeaderName::try_from(name).map_err(|_| wrong())?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| RemoteApiError::Unsigned("the token is no header's value".into()))?;
            value.set_sensitive(true);
            request.headers_mut().insert(name, value);
        }
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accept));
        let answer = self.https.send(request, ANSWER).await?;
        let status = answer.status();
        match status.is_success() {
            true => Ok(answer.into_body()),
            false => {
                let content: Option<Value> = serde_json::from_slice(answer.body()).ok();
                // The function says `error`, and API Gateway `message`.
                let said = content.as_ref().and_then(|content| {
                    content.get("error").or_else(|| content.get("message"))?.as_str()
                });
                let message = said.unwrap_or("it does not say why").to_owned();
                Err(RemoteApiError::Refused { address: self.address.clone(), status, message })
            }
        }
    }
}

/// The headers of a signature.
async fn signature(
    sdk: &SdkConfig,
    method: &Method,
    uri: &Uri,
    host: &str,
    body: &Bytes,
) -> Result<Vec<(String, String)>, RemoteApiError> {
    let none =
        |what: &str| RemoteApiError::Unsigned(format!("the AWS configuration has no {what}"));
    let failed = |error: &dyn std::fmt::Display| RemoteApiError::Unsigned(error.to_string());
    let provider = sdk.credentials_provider().ok_or_else(|| none("credentials"))?;
    let credentials = provider.provide_credentials().await;
    let identity = credentials.map_err(|_| none("credentials that can be used"))?.into();
    let configured = || sdk.region().map(ToString::to_string);
    let region = region_of(host).map(str::to_owned).or_else(configured);
    let region = region.ok_or_else(|| none("region"))?;
    let time = sdk.time_source().ok_or_else(|| none("time"))?.now();
    let params = SigningParams::builder()
        .identity(&identity)
        .region(&region)
        .name(SERVICE)
        .time(time)
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let url = uri.to_string();
    let headers = [("host", host)];
    let body = SignableBody::Bytes(body);
    let request = SignableRequest::new(method.as_str(), url, headers.into_iter(), body);
    let signed = request.and_then(|request| sign(request, &params)).map_err(|e| failed(&e))?;
    let (headers, _) = signed.into_parts().0.into_parts();
    Ok(headers.iter().map(|it| (it.name().to_owned(), it.value().to_owned())).collect())
}

/// A text as a value in a query.
pub fn in_query(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// The region in the host of an API of API Gateway.
fn region_of(host: &str) -> Option<&str> {
    let mut parts = host.split('.');
    parts.find(|part| *part == SERVICE)?;
    parts.next().filter(|_| host.contains(".amazonaws."))
}

#[cfg(test)]
mod tests {
    use super::region_of;

    #[test]
    fn the_address_says_the_region() {
        assert_eq!(region_of("a1b2.execute-api.eu-west-1.amazonaws.com"), Some("eu-west-1"));
        assert_eq!(region_of("plumbline.example.com"), None);
        assert_eq!(region_of("a1b2.execute-api.localhost:4566"), None);
    }
}
