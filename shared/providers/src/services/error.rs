use super::{HelperError, HostName};
use crate::https::HttpsError;
use http::StatusCode;

/// A host was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It did not answer.
    #[error(transparent)]
    Https(#[from] HttpsError),
    /// It cannot be found out what authorises.
    #[error("failed to retrieve credentials for {host}: {source}")]
    Credentials {
        /// The host.
        host: HostName,
        /// Why.
        source: HelperError,
    },
    /// What authorises cannot be written into a request.
    #[error(
        "the token for {host} has characters that no request can carry, such as the end of a line; set it again without them"
    )]
    Unsendable {
        /// The host.
        host: HostName,
    },
}

impl RequestError {
    /// Whether the same request may succeed in a moment.
    pub fn may_pass(&self) -> bool {
        matches!(self, RequestError::Https(error) if error.may_pass())
    }
}

/// A host wants credentials, or other ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", unauthorized(.host, *.given, .helper.as_deref()))]
pub struct Unauthorized {
    /// The host.
    pub host: HostName,
    /// Whether a token went along.
    pub given: bool,
    /// Why no helper has given one, in words, where one is configured.
    pub helper: Option<String>,
}

fn unauthorized(host: &HostName, given: bool, helper: Option<&str>) -> String {
    let variable = host.as_str().replace('-', "__").replace('.', "_");
    let wanted = match given {
        true => format!("host {host} rejected the given authentication credentials"),
        false => format!("host {host} requires authentication credentials"),
    };
    let helper = helper.map(|helper| format!(" ({helper})")).unwrap_or_default();
    // A port cannot be part of a variable's name.
    let variable = match variable.contains(':') {
        true => String::new(),
        false => format!("the environment variable TF_TOKEN_{variable} or "),
    };
    format!(
        "{wanted}{helper}: set a token in {variable}a credentials block of the CLI configuration"
    )
}

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
        source: RequestError,
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
