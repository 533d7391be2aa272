//! What the identity may do in the namespace.

use super::permission::{self, APPLIER, PLANNER, Permission};
use super::unanswered;
use crate::contract::{Access, Finding, Setting};
use crate::kubernetes::KubernetesStore;
use crate::kubernetes::access::{Asked, review};
use crate::kubernetes::requests::Failure;

/// What the store does with Secrets, and from when on a run needs it.
const VERBS: [(&str, Access); 5] = [
    ("get", Access::Read),
    ("list", Access::Read),
    ("create", Access::Write),
    ("update", Access::Write),
    ("delete", Access::Write),
];

/// What the authorizer says of one verb on the namespace's Secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbAccess {
    /// The verb, as in a Role.
    pub verb: &'static str,
    /// Whether the identity may.
    pub allowed: bool,
    /// Whether the run needs it.
    pub required: bool,
    /// The authorizer's reason, where it gives one.
    pub reason: String,
}

impl KubernetesStore {
    /// Asks the authorizer for every verb that the store uses.
    pub(super) async fn verb_access(&self, access: Access) -> Result<Vec<VerbAccess>, Failure> {
        let mut verbs = Vec::with_capacity(VERBS.len());
        for (verb, needed_from) in VERBS {
            let asked = Asked {
                verb,
                group: "",
                resource: "secrets",
                name: "",
                namespace: &self.requests.place.namespace,
            };
            let review = review(&self.requests.cluster, asked, self.requests.time_out).await?;
            let required = needed_from <= access;
            verbs.push(VerbAccess {
                verb,
                allowed: review.allowed,
                required,
                reason: review.reason,
            });
        }
        Ok(verbs)
    }
}

pub(super) async fn finding(store: &KubernetesStore, access: Access) -> Finding {
    let setting = Setting::NamespaceAccess;
    let place = &store.requests.place;
    let verbs = match store.verb_access(access).await {
        Ok(verbs) => verbs,
        Err(failure) => {
            let remedy = permission::reviews(place);
            return unanswered(setting, "what it may do in the namespace", failure, remedy);
        }
    };
    let told: Vec<_> = verbs.iter().map(describe).collect();
    let found = format!("Secrets in {place}: {}.", told.join(", "));
    let missing: Vec<_> =
        verbs.iter().filter(|verb| verb.required && !verb.allowed).map(|verb| verb.verb).collect();
    if missing.is_empty() {
        return Finding::passed(setting, found);
    }
    let remedy = Permission {
        purpose: "Give the identity a Role with the verbs that are missing, and bind it (examples/kubernetes).",
        role: if access >= Access::Write { APPLIER } else { PLANNER },
        verbs: &missing.join(","),
        resources: "secrets",
    };
    // Nothing can be kept where nothing may be written: there is nothing to accept.
    Finding::failed(setting, found, remedy.in_namespace(store).await).never_waived()
}

fn describe(verb: &VerbAccess) -> String {
    let VerbAccess { verb, allowed, required, reason } = verb;
    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    match (allowed, required) {
        (true, _) => format!("{verb} allowed"),
        (false, true) => format!("{verb} denied{reason} and required"),
        (false, false) => format!("{verb} denied{reason} and not required"),
    }
}
