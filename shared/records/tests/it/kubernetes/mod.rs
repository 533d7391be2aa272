//! The Kubernetes store and its contract: against the strict server of these tests, and against a real cluster
//! where one is named.

mod conditional_writes;
mod contract;
#[cfg(feature = "s3")]
mod documented;
mod examples;
mod listings;
mod managed_clusters;
mod real_cluster;
mod refusals;
mod strict;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use records::conformance::records;
use records::kubernetes::{Cluster, KubernetesOptions, KubernetesStore, Refusal};
use records::{Key, RecordStore, StoreError, Version};
use strict::{Phase, StrictServer};

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// The store of the estate `prod` in the namespace `team`.
pub(crate) fn store(cluster: &Cluster) -> KubernetesStore {
    store_of(cluster, "team", "prod")
}

pub(crate) fn store_of(cluster: &Cluster, namespace: &str, estate: &str) -> KubernetesStore {
    let mut options = KubernetesOptions::new(namespace, estate, key(estate));
    options.request_time_out = Duration::from_secs(5);
    options.page_size = 100;
    KubernetesStore::new(cluster, options).unwrap()
}

pub(crate) async fn put(store: &KubernetesStore, text: &str, body: &'static str) -> Version {
    store.put_if_absent(&key(text), Bytes::from_static(body.as_bytes())).await.unwrap()
}

#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Refusal {
    match result {
        Err(StoreError::Kubernetes(refusal)) => *refusal,
        other => panic!("{other:?} is no refusal"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_suite_passes_on_the_strict_server() {
    let server = StrictServer::start().await;
    let cluster = server.cluster().await;
    let number = AtomicUsize::new(0);
    let report = records(|| {
        // A namespace for each property, so that one does not list the others' bodies.
        let namespace = format!("conformance-{}", number.fetch_add(1, Ordering::Relaxed));
        server.world.put_namespace(&namespace, Phase::Active);
        let store = store_of(&cluster, &namespace, "conformance");
        async move { Arc::new(store) as Arc<dyn RecordStore> }
    })
    .await;
    assert!(!report.findings.is_empty());
    assert_eq!(report.violations().count(), 0, "\n{report}");
}
