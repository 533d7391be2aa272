//! The commands that let an identity do what its contract needs. They add to roles and bindings that are there
//! already, so that they may be run twice, and beside the shipped manifests.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;

use crate::contract::Remedy;
use crate::kubernetes::requests::answer;
use crate::kubernetes::{KubernetesStore, Place};

/// The Roles of the shipped manifests.
pub(super) const PLANNER: &str = "plumbline-planner";
pub(super) const APPLIER: &str = "plumbline-applier";
/// The ClusterRole of the shipped manifests.
pub(super) const CONTRACT: &str = "plumbline-contract";

/// What stands in commands where the cluster does not say who asks.
const SOMEBODY: &str = "IDENTITY";

/// What an identity is to be allowed.
pub(super) struct Permission<'a> {
    /// What it is for, as a sentence.
    pub(super) purpose: &'a str,
    /// The role that gets it.
    pub(super) role: &'a str,
    /// Verbs and resources as `kubectl create role` has them.
    pub(super) verbs: &'a str,
    pub(super) resources: &'a str,
}

impl Permission<'_> {
    /// The commands that allow it in the store's namespace.
    pub(super) async fn in_namespace(&self, store: &KubernetesStore) -> Remedy {
        let Self { purpose, role, verbs, resources } = self;
        let kubectl = store.requests.place.kubectl();
        let allow = format!("create role {role} --verb={verbs} --resource={resources}");
        Remedy::command(*purpose, added(&kubectl, &allow)).and(bound(store, role).await)
    }

    /// The commands that allow it in the whole cluster.
    pub(super) async fn in_cluster(&self, store: &KubernetesStore) -> Remedy {
        let Self { purpose, role, verbs, resources } = self;
        let kubectl = store.requests.place.kubectl_of_cluster();
        let allow = format!("create clusterrole {role} --verb={verbs} --resource={resources}");
        let user = identity(store).await;
        let bind = format!("create clusterrolebinding {role} --clusterrole={role} --user={user}");
        Remedy::command(*purpose, added(&kubectl, &allow)).and(added(&kubectl, &bind))
    }
}

/// The commands that let the identity use the store's estate. `kubectl create role` knows only resources that the API
/// server serves, which this one need not.
pub(super) async fn of_estate(
    store: &KubernetesStore,
    (group, resource, verb): (&str, &str, &str),
) -> Remedy {
    let place = &store.requests.place;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": { "name": APPLIER, "namespace": place.namespace },
        "rules": [{
            "apiGroups": [group],
            "resources": [resource],
            "resourceNames": [store.estate.label.as_str()],
            "verbs": [verb],
        }],
    });
    Remedy::command(
        "Give the identity the verb use on the estate (examples/kubernetes/applier.yaml).",
        format!("echo '{role}' | {} auth reconcile -f -", place.kubectl()),
    )
    .and(bound(store, APPLIER).await)
}

/// How the right to ask for one's own rights comes back, which every cluster gives to everybody at first.
pub(super) fn reviews(place: &Place) -> Remedy {
    Remedy::command(
        "Let the identity make SelfSubjectAccessReviews, as the ClusterRole system:basic-user does.",
        format!("{} get clusterrolebinding system:basic-user -o yaml", place.kubectl_of_cluster()),
    )
}

async fn bound(store: &KubernetesStore, role: &str) -> String {
    let user = identity(store).await;
    let bind = format!("create rolebinding {role} --role={role} --user={user}");
    added(&store.requests.place.kubectl(), &bind)
}

/// A command that adds to what it would make.
fn added(kubectl: &str, create: &str) -> String {
    format!("{kubectl} {create} --dry-run=client -o yaml | {kubectl} auth reconcile -f -")
}

/// Who asks, as RBAC knows them, and as a word of a shell.
async fn identity(store: &KubernetesStore) -> String {
    let api: Api<SelfSubjectReview> = Api::all(store.requests.cluster.client.clone());
    let review = SelfSubjectReview::default();
    let answered =
        answer(store.requests.time_out, api.create(&PostParams::default(), &review)).await;
    let user = answered.ok().and_then(|review| review.status?.user_info?.username);
    user.map_or_else(|| SOMEBODY.to_owned(), |user| Place::word(&user))
}
