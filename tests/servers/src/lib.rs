//! Servers of the tests, in the test's own process: as strict as the real ones about conditions, versions, names and
//! sizes, and able to do on demand what real ones do once a year.
//!
//! Each request is one indivisible step. A server answers on a free port of loopback until the process ends, whatever
//! runtime its client has, or none.

#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod bucket;
mod cluster;
mod provider_registry;
mod proxy;
mod site;
mod wire;

pub use bucket::{BucketServer, Received};
pub use cluster::{Asked, ClusterServer, Fault, Phase, World};
pub use provider_registry::{AuthorKey, ProviderRegistry, Release, package, sha256};
pub use proxy::{ProxyServer, ProxyVisit};
pub use site::{BodyEnd, Page, Site, Visit};
pub use wire::Answer;
