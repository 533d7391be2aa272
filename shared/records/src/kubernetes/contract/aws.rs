//! AWS's signature, for asking EKS about a cluster.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use http::Uri;

use super::managed::{ManagedClusterAddress, ProviderFailure};
use super::provider_https::ProviderCredentials;

/// The credentials of an SDK configuration that is handed in, and its time.
pub struct AwsCredentials(SdkConfig);

impl AwsCredentials {
    /// Signs with what the configuration has.
    #[must_use]
    pub fn new(sdk: SdkConfig) -> Self {
        Self(sdk)
    }
}

#[async_trait]
impl ProviderCredentials for AwsCredentials {
    async fn headers(
        &self,
        address: &ManagedClusterAddress,
    ) -> Result<Vec<(String, String)>, ProviderFailure> {
        let failed = |error: &dyn std::error::Error| ProviderFailure(error.to_string());
        let none = |what: &str| ProviderFailure(format!("the AWS configuration has no {what}"));
        let region = address.signing_region.as_deref().ok_or_else(|| {
            ProviderFailure("the provider does not take AWS's signature".to_owned())
        })?;
        let provider = self.0.credentials_provider().ok_or_else(|| none("credentials"))?;
        let identity = provider.provide_credentials().await.map_err(|error| failed(&error))?.into();
        let time = self.0.time_source().ok_or_else(|| none("time"))?.now();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name("eks")
            .time(time)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| failed(&error))?
            .into();
        let uri: Uri = address.url.parse().map_err(|_| none("such address"))?;
        let headers = [("host", uri.host().unwrap_or_default())];
        let request = SignableRequest::new(
            "GET",
            address.url.as_str(),
            headers.into_iter(),
            SignableBody::empty(),
        );
        let signed =
            request.and_then(|request| sign(request, &params)).map_err(|error| failed(&error))?;
        let (headers, _) = signed.into_parts().0.into_parts();
        let owned = headers.iter().map(|it| (it.name().to_owned(), it.value().to_owned()));
        Ok(owned.collect())
    }
}
