use super::HostName;
use crate::https::HttpsError;
use http::StatusCode;

/// It cannot be found out where a host has a service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The host did not answer.
    #[error("could not connect to {host}: failed to request discovery document: {source}")]
    Unreachable {
        /// The host.
        host: HostName,
        /// Why.
        source: HttpsError,
    },
    /// The host answered with an error.
    #[error("could not connect to {host}: failed to request discovery document: {status}")]
    Refused {
        /// The host.
        host: HostName,
        /// Its answer.
        status: StatusCode,
    },
    /// What the host answered says nothing of services.
    #[error("could not connect to {host}: its discovery document cannot be used: {detail}")]
    Unusable {
        /// The host.
        host: HostName,
        /// What is wrong with it.
        detail: String,
    },
    /// The host offers no such service.
    #[error("host {host} does not offer the service {service}")]
    NotOffered {
        /// The host.
        host: HostName,
        /// The service.
        service: &'static str,
    },
    /// The host offers the service in another version of its protocol.
    #[error(
        "host {host} offers {offered}, and not {service}, which is the only protocol of this service that is supported"
    )]
    OtherVersion {
        /// The host.
        host: HostName,
        /// The service.
        service: &'static str,
        /// What the host offers.
        offered: String,
    },
}
