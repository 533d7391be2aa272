//! Records in Kubernetes: one Secret for each, changed by compare-and-swap on its `resourceVersion`.
//!
//! - [`Cluster`] is the connection, made from a kubeconfig or a pod's service account that is handed in.
//! - [`KubernetesStore`] is the [`RecordStore`](crate::RecordStore) of one estate in one namespace.
//! - [`ClusterContract`] is what a cluster must guarantee before records are kept in it.
//!
//! Plans, bundles and journals never go into Secrets: they have an artifact store beside this one.

mod access;
mod attribution;
mod body;
mod cluster;
mod contract;
mod listing;
mod names;
mod parts;
mod place;
mod refusal;
mod requests;
mod store;
mod survey;
mod version;

pub use body::{MAX_CLAIMED_SIZE, MAX_STORED_SIZE};
pub use cluster::{Cluster, ClusterAccess, ClusterError, ExecPlugin};
#[cfg(feature = "s3")]
pub use contract::AwsCredentials;
pub use contract::{
    BINDING_NAME, BearerToken, ClusterContract, ManagedCluster, ManagedClusterAddress, POLICY_NAME,
    ProviderAnswer, ProviderApi, ProviderCredentials, ProviderFailure, ProviderHttps,
    UnknownManagedCluster, VerbAccess,
};
pub use names::{DIGEST, ESTATE, KEY, MANAGED_BY, PART_TYPE, PARTS, PLUMBLINE, RECORD_TYPE};
pub use place::Place;
pub use refusal::{ListingProblem, Refusal};
pub use store::{KubernetesOptions, KubernetesStore};
