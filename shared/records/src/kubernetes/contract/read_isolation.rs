//! Who reads these records, and what else their reader reads.

use std::collections::BTreeSet;

use k8s_openapi::api::authorization::v1::{
    LocalSubjectAccessReview, ResourceAttributes, SubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;

use super::permission::{self, PLANNER, Permission};
use super::unanswered;
use crate::StoreError;
use crate::contract::{Finding, Remedy, Setting};
use crate::kubernetes::KubernetesStore;
use crate::kubernetes::access::{Asked, review};
use crate::kubernetes::requests::{Failure, answer};

/// Groups that nobody is meant to give Secrets to: everybody, with and without a login, and every pod.
const EVERYBODY: [&str; 3] =
    ["system:authenticated", "system:unauthenticated", "system:serviceaccounts"];

pub(super) async fn finding(store: &KubernetesStore) -> Finding {
    let setting = Setting::ReadIsolation;
    let place = &store.requests.place;
    let mut others_seen = true;
    for group in EVERYBODY {
        match group_may_read(store, group).await {
            Ok(false) => {}
            Ok(true) => {
                let found =
                    format!("The group {group} may list the Secrets in {place}: everybody.");
                let remedy = Remedy::command(
                    "Find the binding that names the group, and delete it.",
                    format!(
                        "{} get rolebindings,clusterrolebindings -A -o wide | grep {group}",
                        place.kubectl_of_cluster()
                    ),
                );
                return Finding::failed(setting, found, remedy);
            }
            Err(_) => {
                others_seen = false;
                break;
            }
        }
    }
    let asked = Asked { verb: "list", group: "", resource: "secrets", name: "", namespace: "" };
    match review(&store.requests.cluster, asked, store.requests.time_out).await {
        Ok(review) if review.allowed => {
            let found = format!(
                "This identity may list the Secrets of every namespace of {}, not only those of {}.",
                place.server, place.namespace
            );
            let remedy = Remedy::command(
                "Bind it to a Role of the namespace instead of a ClusterRole (examples/kubernetes).",
                format!("{} get clusterrolebindings -o wide", place.kubectl_of_cluster()),
            );
            return Finding::warned(setting, found, remedy);
        }
        Ok(_) => {}
        Err(failure) => {
            let remedy = permission::reviews(&store.requests.place);
            return unanswered(setting, "which namespaces' Secrets it may read", failure, remedy);
        }
    }
    match store.survey().await {
        Ok(survey) => {
            let foreign: BTreeSet<String> = survey
                .foreign
                .into_iter()
                .map(
                    |estate| {
                        if estate.is_empty() { "one without label".to_owned() } else { estate }
                    },
                )
                .collect();
            if foreign.is_empty() {
                let beyond = match others_seen {
                    true => "",
                    false => " Who else may read it was not visible.",
                };
                let found = format!("{place} holds the records of one estate alone.{beyond}");
                return Finding::passed(setting, capitalised(&found));
            }
            let names: Vec<_> = foreign.into_iter().collect();
            let found = format!(
                "{place} also holds records of other estates ({}): whoever reads one estate reads them all.",
                names.join(", ")
            );
            let remedy = Remedy::command(
                "Give estates that have different readers a namespace each.",
                format!("{} create namespace NAMESPACE", place.kubectl_of_cluster()),
            );
            Finding::warned(setting, capitalised(&found), remedy)
        }
        Err(StoreError::Kubernetes(refusal)) if refusal.is_authorizers_denial() => {
            let remedy = Permission {
                purpose: "Let the identity list the namespace's Secrets.",
                role: PLANNER,
                verbs: "get,list",
                resources: "secrets",
            };
            let found = format!("The Secrets could not be listed: {refusal}.");
            Finding::unreadable(setting, found, remedy.in_namespace(store).await)
        }
        Err(error) => {
            let found = format!("The Secrets could not be listed: {}.", error.with_source());
            Finding::not_checked(setting, found)
        }
    }
}

/// Whether a whole group may list the namespace's Secrets. Not everybody may ask that.
async fn group_may_read(store: &KubernetesStore, group: &str) -> Result<bool, Failure> {
    let namespace = &store.requests.place.namespace;
    let review = LocalSubjectAccessReview {
        metadata: kube::api::ObjectMeta {
            namespace: Some(namespace.clone()),
            ..Default::default()
        },
        spec: SubjectAccessReviewSpec {
            groups: Some(vec![group.to_owned()]),
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(namespace.clone()),
                verb: Some("list".to_owned()),
                resource: Some("secrets".to_owned()),
                ..Default::default()
            }),
            ..Default::default()
        },
        ..Default::default()
    };
    let api: Api<LocalSubjectAccessReview> =
        Api::namespaced(store.requests.cluster.client.clone(), namespace);
    let params = PostParams::default();
    let answered = answer(store.requests.time_out, api.create(&params, &review)).await?;
    Ok(answered.status.is_some_and(|status| status.allowed))
}

fn capitalised(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
