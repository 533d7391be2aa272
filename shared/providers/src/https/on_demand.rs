use super::{Https, HttpsClient, HttpsError};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::AsyncWrite;

/// A client that reads the system's roots when it is first asked for something: whoever needs no host needs no roots.
#[derive(Debug)]
pub struct OnDemandClient {
    patience: Duration,
    client: OnceLock<Result<HttpsClient, String>>,
}

impl OnDemandClient {
    /// Waits as [`HttpsClient::new`] does.
    pub fn new(patience: Duration) -> OnDemandClient {
        OnDemandClient { patience, client: OnceLock::new() }
    }

    fn client(&self) -> Result<&HttpsClient, HttpsError> {
        let made = || HttpsClient::new(self.patience).map_err(|error| error.to_string());
        let client = self.client.get_or_init(made).as_ref();
        client.map_err(|error| HttpsError::NoRoots(error.clone()))
    }
}

#[async_trait]
impl Https for OnDemandClient {
    async fn send(
        &self,
        request: Request<Bytes>,
        limit: u64,
    ) -> Result<Response<Bytes>, HttpsError> {
        self.client()?.send(request, limit).await
    }

    async fn download(
        &self,
        request: Request<Bytes>,
        limit: u64,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<Response<u64>, HttpsError> {
        self.client()?.download(request, limit, into).await
    }
}
