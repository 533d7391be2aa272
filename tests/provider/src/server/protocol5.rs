//! The same provider in protocol 5: the same messages, where calls go by other names.

use std::task::{Context, Poll};
use tonic::codegen::{Service, http};
use tonic::server::NamedService;

/// Serves calls of protocol 5 with a service of protocol 6.
#[derive(Clone)]
pub(super) struct Protocol5<S>(pub(super) S);

impl<S> NamedService for Protocol5<S> {
    const NAME: &'static str = "tfplugin5.Provider";
}

impl<S: Service<http::Request<B>>, B> Service<http::Request<B>> for Protocol5<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<B>) -> S::Future {
        let name = request.uri().path().rsplit('/').next().unwrap_or_default();
        let name = match name {
            "GetSchema" => "GetProviderSchema",
            "PrepareProviderConfig" => "ValidateProviderConfig",
            "ValidateResourceTypeConfig" => "ValidateResourceConfig",
            "ValidateDataSourceConfig" => "ValidateDataResourceConfig",
            "Configure" => "ConfigureProvider",
            "Stop" => "StopProvider",
            // Names of protocol 6 are none of protocol 5.
            "GetProviderSchema"
            | "ValidateProviderConfig"
            | "ValidateResourceConfig"
            | "ValidateDataResourceConfig"
            | "ConfigureProvider"
            | "StopProvider" => "Unknown",
            same => same,
        };
        if let Ok(uri) = format!("/tfplugin6.Provider/{name}").parse() {
            *request.uri_mut() = uri;
        }
        self.0.call(request)
    }
}
