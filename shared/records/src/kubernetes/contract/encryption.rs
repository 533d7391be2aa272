//! Whether Secrets are encrypted where the cluster keeps them.

use std::sync::LazyLock;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;

use super::managed::{self, ManagedCluster, ProviderApi};
use crate::contract::{Finding, Remedy, Setting};
use crate::kubernetes::KubernetesStore;
use crate::kubernetes::requests::{Failure, answer};

/// The option by which an API server is told how to encrypt.
const OPTION: &str = "--encryption-provider-config";

/// The Pods of API servers, as kubeadm and what is built on it label them.
static API_SERVERS: LazyLock<ListParams> =
    LazyLock::new(|| ListParams::default().labels("component=kube-apiserver"));

pub(super) async fn finding(
    store: &KubernetesStore,
    named: Option<&ManagedCluster>,
    provider: Option<&dyn ProviderApi>,
) -> Finding {
    let setting = Setting::EncryptionAtRest;
    let pods: Api<Pod> = Api::namespaced(store.requests.cluster.client.clone(), "kube-system");
    // What the configuration names is asked first: it is what the team says.
    if let Some(named) = named {
        return managed::finding(store, named, true, provider).await;
    }
    let listed = answer(store.requests.time_out, pods.list(&API_SERVERS)).await;
    match &listed {
        Ok(pods) if !pods.items.is_empty() => return of_pods(store, &pods.items),
        _ => {}
    }
    let exec = store.requests.cluster.exec_plugin();
    if let Some(inferred) = exec.and_then(ManagedCluster::infer) {
        return managed::finding(store, &inferred, false, provider).await;
    }
    let why = match listed {
        Ok(_) => "no Pod of an API server is in kube-system".to_owned(),
        Err(Failure::Status(status)) => format!("the API server's Pods: {}", status.message),
        Err(Failure::Credentials(cause)) => cause,
        Err(Failure::NoAnswer(cause)) => cause.to_string(),
    };
    let found = format!(
        "Nobody could tell whether Secrets are encrypted at rest ({why}). Where the cluster is managed, name \
         it: managed_cluster = \"eks:REGION/CLUSTER\", \"gke:PROJECT/LOCATION/CLUSTER\" or \
         \"aks:SUBSCRIPTION/RESOURCE_GROUP/CLUSTER\"."
    );
    Finding::not_checked(setting, found)
}

fn of_pods(store: &KubernetesStore, pods: &[Pod]) -> Finding {
    let setting = Setting::EncryptionAtRest;
    let without: Vec<_> = pods.iter().filter(|pod| !encrypts(pod)).collect();
    if without.is_empty() {
        let found = format!(
            "Each of the {} API servers is started with {OPTION}; that it covers Secrets is in that file.",
            pods.len()
        );
        return Finding::passed(setting, found);
    }
    let name = |pod: &&Pod| pod.metadata.name.clone().unwrap_or_default();
    let names: Vec<_> = without.iter().map(name).collect();
    let found = format!(
        "API servers are started without {OPTION}: {}. Secrets are in etcd as they are.",
        names.join(", ")
    );
    let kubectl = store.requests.place.kubectl_of_cluster();
    let remedy = Remedy::command(
        "Write an EncryptionConfiguration for secrets with a kms or aescbc provider first, start each API \
         server with it, and write every Secret again.",
        format!("{kubectl} get secrets -A -o json | {kubectl} replace -f -"),
    );
    Finding::failed(setting, found, remedy)
}

fn encrypts(pod: &Pod) -> bool {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let mut words = containers.flat_map(|it| it.command.iter().chain(&it.args)).flatten();
    // A shell's one word may hold the whole command line.
    words.any(|word| {
        word.split_whitespace().any(|word| {
            word.strip_prefix(OPTION).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    })
}
