//! An API server: Secrets by the rules of the real one, and the few other things that a store asks for.

mod secrets;
mod status;
mod world;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::http::request::Parts;
use tempfile::TempDir;

use crate::wire;

pub use world::{Asked, Fault, Phase, World};

/// A running API server, with one user.
pub struct ClusterServer {
    /// What it knows.
    pub world: Arc<World>,
    /// Where it listens.
    pub address: SocketAddr,
    folder: TempDir,
}

impl ClusterServer {
    /// Serves a world that has the namespace `team`.
    pub fn start() -> Self {
        let world = Arc::new(World::default());
        world.put_namespace("team", Phase::Active);
        let served = Arc::clone(&world);
        let address = wire::serve(move |head, body| served.outcome(&asked(head, &body)));
        Self { world, address, folder: tempfile::tempdir().unwrap() }
    }

    /// A kubeconfig that leads here.
    pub fn kubeconfig(&self) -> PathBuf {
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
}

fn asked(head: &Parts, body: &Bytes) -> Asked {
    let token = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    Asked {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        token: token.unwrap_or_default().to_owned(),
        body: serde_json::from_slice(body).unwrap_or_default(),
    }
}
