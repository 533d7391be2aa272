//! Services of hosts: which there are, where, and what proves to a host who asks.
//!
//! A host says in `/.well-known/terraform.json` where its services are: `providers.v1` for a registry of providers,
//! `modules.v1` for one of modules.

mod credentials;
mod credentials_helper;
mod discovery;
mod error;
mod host_name;
mod request;

pub use credentials::{Credentials, Token};
pub use credentials_helper::{CredentialsHelper, HelperError, HelperSettings};
pub use discovery::Services;
pub use error::{DiscoveryError, RequestError, Unauthorized};
pub use host_name::{HostName, InvalidHostName};
pub use request::Answer;
