//! The provider's API over HTTPS, with the client that also reaches clusters.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::Request;
use kube::{Client, Config};

use super::managed::{ManagedClusterAddress, ProviderAnswer, ProviderApi, ProviderFailure};
use crate::kubernetes::requests::{Failure, answer};

/// Proves to a provider who asks.
#[async_trait]
pub trait ProviderCredentials: Send + Sync {
    /// The headers that a GET request of this address, without a body, has to carry.
    async fn headers(
        &self,
        address: &ManagedClusterAddress,
    ) -> Result<Vec<(String, String)>, ProviderFailure>;
}

/// A bearer token, as Google and Azure take it.
pub struct BearerToken(String);

impl BearerToken {
    /// A token with the scope or audience of the provider's API, which a cluster's own token often lacks.
    #[must_use]
    pub fn new(token: String) -> Self {
        Self(token)
    }
}

#[async_trait]
impl ProviderCredentials for BearerToken {
    async fn headers(
        &self,
        address: &ManagedClusterAddress,
    ) -> Result<Vec<(String, String)>, ProviderFailure> {
        match &address.signing_region {
            None => Ok(vec![("authorization".to_owned(), format!("Bearer {}", self.0))]),
            Some(_) => Err(ProviderFailure("AWS takes no bearer token".to_owned())),
        }
    }
}

/// A [`ProviderApi`] over HTTPS.
pub struct ProviderHttps {
    credentials: Arc<dyn ProviderCredentials>,
    time_out: Duration,
}

impl ProviderHttps {
    /// Asks with these credentials, and waits for an answer as long as that.
    #[must_use]
    pub fn new(credentials: Arc<dyn ProviderCredentials>, time_out: Duration) -> Self {
        Self { credentials, time_out }
    }
}

#[async_trait]
impl ProviderApi for ProviderHttps {
    async fn get(
        &self,
        address: &ManagedClusterAddress,
    ) -> Result<ProviderAnswer, ProviderFailure> {
        let failed = |error: &dyn std::error::Error| ProviderFailure(error.to_string());
        let mut request = Request::get(&address.url);
        for (name, value) in self.credentials.headers(address).await? {
            request = request.header(name, value);
        }
        let request = request.body(Vec::new()).map_err(|error| failed(&error))?;
        let mut config = Config::new(request.uri().clone());
        config.default_retry = false;
        config.connect_timeout = Some(self.time_out);
        let client = Client::try_from(without_path(config)).map_err(|error| failed(&error))?;
        match answer(self.time_out, client.request_text(request)).await {
            Ok(body) => Ok(ProviderAnswer { status: 200, body: body.into_bytes() }),
            // What a refusal says is the provider's own; its number is enough.
            Err(Failure::Status(status)) => {
                Ok(ProviderAnswer { status: status.code, body: status.message.into_bytes() })
            }
            Err(Failure::Credentials(cause)) => Err(ProviderFailure(cause)),
            Err(Failure::NoAnswer(cause)) => Err(ProviderFailure(cause.to_string())),
        }
    }
}

/// The client puts a request's path behind the server's own.
fn without_path(mut config: Config) -> Config {
    let mut parts = config.cluster_url.into_parts();
    parts.path_and_query = Some(http::uri::PathAndQuery::from_static("/"));
    config.cluster_url = http::Uri::from_parts(parts).unwrap_or_default();
    config
}
