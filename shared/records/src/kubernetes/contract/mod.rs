//! What a cluster must guarantee before records are kept in it.

#[cfg(feature = "s3")]
mod aws;
mod boundary;
mod encryption;
mod managed;
mod namespace_access;
mod permission;
mod provider_https;
mod read_isolation;

use std::sync::Arc;

use async_trait::async_trait;
use kube::core::Status;

use super::KubernetesStore;
use super::requests::Failure;
use crate::RecordStore;
use crate::contract::{Access, Finding, Remedy, Setting, StoreContract, StoreKind};

#[cfg(feature = "s3")]
pub use aws::AwsCredentials;
pub use boundary::{BINDING_NAME, POLICY_NAME};
pub use managed::{
    ManagedCluster, ManagedClusterAddress, ProviderAnswer, ProviderApi, ProviderFailure,
    UnknownManagedCluster,
};
pub use namespace_access::VerbAccess;
pub use provider_https::{BearerToken, ProviderCredentials, ProviderHttps};

/// The contract of one store's cluster and namespace.
pub struct ClusterContract {
    store: Arc<KubernetesStore>,
    managed: Option<ManagedCluster>,
    provider: Option<Arc<dyn ProviderApi>>,
}

impl ClusterContract {
    /// The contract of the namespace that a store is in.
    #[must_use]
    pub fn new(store: Arc<KubernetesStore>) -> Self {
        Self { store, managed: None, provider: None }
    }

    /// Says which managed cluster it is; without it the kubeconfig's credential command may tell.
    #[must_use]
    pub fn managed_as(mut self, cluster: ManagedCluster) -> Self {
        self.managed = Some(cluster);
        self
    }

    /// Lets the provider of a managed cluster be asked; without it a managed cluster's encryption is not checked.
    #[must_use]
    pub fn asking(mut self, provider: Arc<dyn ProviderApi>) -> Self {
        self.provider = Some(provider);
        self
    }

    fn tls_verification(&self) -> Finding {
        let setting = Setting::TlsVerification;
        let place = &self.store.requests.place;
        let server = &place.server;
        if self.store.requests.cluster.verifies_tls {
            let found = format!("The certificate of {server} is verified.");
            return Finding::passed(setting, found);
        }
        let kubectl = place.kubectl_of_cluster();
        if !server.starts_with("https://") {
            let remedy = Remedy::command(
                "Name the server by an https address in the kubeconfig, with its certificate authority.",
                format!("{kubectl} config view --minify"),
            );
            return Finding::failed(setting, format!("{server} is reached without TLS."), remedy);
        }
        let remedy = Remedy::command(
            "Take insecure-skip-tls-verify out of the kubeconfig's cluster, and name its certificate \
             authority instead.",
            format!("{kubectl} config view --minify"),
        );
        Finding::failed(setting, format!("The certificate of {server} is not verified."), remedy)
    }
}

#[async_trait]
impl StoreContract for ClusterContract {
    fn location(&self) -> String {
        self.store.location()
    }

    fn settings(&self) -> Vec<Setting> {
        StoreKind::Kubernetes.settings()
    }

    async fn check(&self, access: Access) -> Vec<Finding> {
        vec![
            self.tls_verification(),
            namespace_access::finding(&self.store, access).await,
            read_isolation::finding(&self.store).await,
            encryption::finding(&self.store, self.managed.as_ref(), self.provider.as_deref()).await,
            boundary::finding(&self.store, access).await,
        ]
    }
}

/// A question that the API server did not answer, as a finding.
fn unanswered(setting: Setting, question: &str, failure: Failure, remedy: Remedy) -> Finding {
    match failure {
        Failure::Status(status) if is_denial(&status) => {
            let found = format!("This identity may not see {question}: {}.", status.message);
            Finding::unreadable(setting, found, remedy)
        }
        Failure::Status(status) => {
            let found = format!("Nobody could tell {question}: {}.", status.message);
            Finding::not_checked(setting, found)
        }
        Failure::Credentials(cause) => {
            Finding::not_checked(setting, format!("Nobody could be asked {question}: {cause}."))
        }
        Failure::NoAnswer(cause) => {
            Finding::not_checked(setting, format!("Nobody answered {question}: {cause}."))
        }
    }
}

fn is_denial(status: &Status) -> bool {
    matches!(status.code, 401 | 403)
}
