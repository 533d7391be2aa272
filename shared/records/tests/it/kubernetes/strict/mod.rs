//! An API server of the tests: as strict as the real one about versions, preconditions, names and sizes, and
//! able to do on demand what a real one does once a year.

mod http;
mod secrets;
mod status;
mod world;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use records::kubernetes::{Cluster, ClusterAccess};
use tempfile::TempDir;

pub(crate) use world::{Fault, Phase, World};

/// A running server. It ends with the test's runtime.
pub(crate) struct StrictServer {
    pub(crate) world: Arc<World>,
    pub(crate) address: SocketAddr,
    folder: TempDir,
}

impl StrictServer {
    /// Serves a world that has the namespace `team`.
    pub(crate) async fn start() -> Self {
        let world = Arc::new(World::default());
        world.put_namespace("team", Phase::Active);
        let address = http::serve(Arc::clone(&world)).await;
        let folder = tempfile::tempdir().unwrap();
        Self { world, address, folder }
    }

    /// A kubeconfig that leads here.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        let path = self.folder.path().join("kubeconfig");
        let content = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: strict\n\
             clusters:\n- name: strict\n  cluster:\n    server: http://{}\n\
             users:\n- name: tester\n  user:\n    token: secret-token\n\
             contexts:\n- name: strict\n  context:\n    cluster: strict\n    user: tester\n    namespace: team\n",
            self.address
        );
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) async fn cluster(&self) -> Cluster {
        let access = ClusterAccess::Kubeconfig { path: self.kubeconfig(), context: None };
        Cluster::connect(&access).await.unwrap()
    }
}
