//! The strict API server of the tests, and the way to it.

use std::ops::Deref;

use records::kubernetes::{Cluster, ClusterAccess};
use test_servers::ClusterServer;

pub(crate) use test_servers::{Fault, Phase};

/// A running server.
pub(crate) struct StrictServer(ClusterServer);

impl Deref for StrictServer {
    type Target = ClusterServer;

    fn deref(&self) -> &ClusterServer {
        &self.0
    }
}

impl StrictServer {
    /// Serves a world that has the namespace `team`.
    pub(crate) async fn start() -> Self {
        Self(ClusterServer::start())
    }

    pub(crate) async fn cluster(&self) -> Cluster {
        let access = ClusterAccess::Kubeconfig { path: self.kubeconfig(), context: None };
        Cluster::connect(&access).await.unwrap()
    }
}
