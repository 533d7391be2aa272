//! What the process's surroundings give to stores: credentials for AWS, and the way to a cluster.

use crate::environment::ProcessEnvironment;
use async_trait::async_trait;
use aws_config::{BehaviorVersion, SdkConfig};
use records::kubernetes::{ClusterAccess, ManagedCluster};
use runs::stores::StoreSurroundings;
use std::path::PathBuf;
use std::sync::Arc;

/// The environment that AWS's and Kubernetes's own tools read.
pub(crate) struct ProcessSurroundings(pub(crate) Arc<ProcessEnvironment>);

#[async_trait]
impl StoreSurroundings for ProcessSurroundings {
    async fn aws(&self, profile: Option<&str>) -> SdkConfig {
        let mut loader = aws_config::defaults(BehaviorVersion::latest());
        if let Some(profile) = profile {
            loader = loader.profile_name(profile);
        }
        loader.load().await
    }

    /// As kubectl looks for it; without any file, this is taken for a Pod.
    fn cluster(&self, context: Option<&str>) -> ClusterAccess {
        let named =
            self.0.get("KUBECONFIG").and_then(|paths| paths.split(':').find(|p| !p.is_empty()));
        let usual =
            || self.0.home().map(|home| home.join(".kube/config")).filter(|path| path.exists());
        match named.map(PathBuf::from).or_else(usual) {
            Some(path) => ClusterAccess::Kubeconfig { path, context: context.map(str::to_owned) },
            None => ClusterAccess::InCluster { server: None },
        }
    }

    /// Where the providers' own tools take a token that was made elsewhere.
    fn provider_token(&self, cluster: &ManagedCluster) -> Option<String> {
        let names: &[&str] = match cluster {
            ManagedCluster::Gke { .. } => {
                &["CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"]
            }
            ManagedCluster::Aks { .. } => &["AZURE_ACCESS_TOKEN"],
            _ => &[],
        };
        names.iter().find_map(|name| self.0.get(name)).map(str::to_owned)
    }
}
