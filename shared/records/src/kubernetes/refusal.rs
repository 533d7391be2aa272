//! What the Kubernetes store refuses: what was found, why it is refused, and the line that mends it.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::Place;
use super::names::{ESTATE, KEY, MANAGED_BY, PLUMBLINE};
use crate::Key;

/// Something in a cluster that would make records ambiguous, or lose them.
///
/// None of these leaves doubt: what is refused was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Two Secrets say that they hold the same key.
    #[error(
        "the Secrets {right} and {other} in {place} both hold the record {key}. Only one can be the \
         record, and a write of one would leave the other to be taken for it. The record's own name is \
         {right}; compare both and delete the copy: {} delete secret {other}",
        place.kubectl()
    )]
    DuplicateKey {
        /// The key.
        key: Key,
        /// The Secret whose name belongs to the key, or the first of several copies.
        right: String,
        /// The other one.
        other: String,
        /// Where they are.
        place: Arc<Place>,
    },

    /// A Secret holds a key that belongs under another name.
    #[error(
        "the Secret {secret} in {place} holds the record {key}, whose name is {expected}. A read of the \
         record would not find it, and a create would make a second one. If it is a copy, delete it: \
         {} delete secret {secret}",
        place.kubectl()
    )]
    Misnamed {
        /// The Secret.
        secret: String,
        /// The key that it holds.
        key: Key,
        /// The name that belongs to the key.
        expected: String,
        /// Where it is.
        place: Arc<Place>,
    },

    /// A Secret of another estate holds a key of this one.
    #[error(
        "the Secret {secret} in {place} holds the record {key} of the estate {ours}, and is labelled as one \
         of the estate {found:?}. Both estates would write it. If it is this estate's: {} label --overwrite \
         secret {secret} {ESTATE}={ours}",
        place.kubectl()
    )]
    ForeignEstate {
        /// The Secret.
        secret: String,
        /// The key that it holds.
        key: Key,
        /// The estate that its label names.
        found: String,
        /// This store's estate.
        ours: String,
        /// Where it is.
        place: Arc<Place>,
    },

    /// A record lacks a label by which it is known, or has another value there.
    #[error(
        "the Secret {secret} in {place} is a record, and {}. Admission policies and people know records by \
         their labels, and Plumbline never mends them silently. If the record is this estate's: {} label \
         --overwrite secret {secret} {MANAGED_BY}={PLUMBLINE} {ESTATE}={estate}",
        found_label(label, found.as_deref()), place.kubectl()
    )]
    Unlabelled {
        /// The Secret.
        secret: String,
        /// The label that is missing or wrong.
        label: &'static str,
        /// Its value, if it has one.
        found: Option<String>,
        /// This store's estate.
        estate: String,
        /// Where it is.
        place: Arc<Place>,
    },

    /// A record does not say which key it holds.
    #[error(
        "the Secret {secret} in {place} is a record, and its annotation {KEY} is {}. Without it nobody can \
         tell which record it is. Restore it if you know the key ({} annotate --overwrite secret {secret} \
         {KEY}=KEY), else restore the Secret from a backup",
        found.as_ref().map_or_else(|| "missing".to_owned(), |found| format!("no key: {found:?}")),
        place.kubectl()
    )]
    Unannotated {
        /// The Secret.
        secret: String,
        /// The annotation's text, where it has one that is no key.
        found: Option<String>,
        /// Where it is.
        place: Arc<Place>,
    },

    /// The Secret of one key says that it holds another.
    #[error(
        "the Secret {secret} in {place} belongs to the record {key}, and says that it holds {found}. Somebody \
         edited or copied it. If the annotation is wrong: {} annotate --overwrite secret {secret} {KEY}={key}",
        place.kubectl()
    )]
    KeyCollision {
        /// The Secret.
        secret: String,
        /// The key whose name it has.
        key: Key,
        /// The key that it says it holds.
        found: Key,
        /// Where it is.
        place: Arc<Place>,
    },

    /// A key is not one of the store's estate.
    #[error(
        "the key {key} is not below {root}, where the records of the estate {estate} are; it was neither read \
         nor written. Open the store for the estate that the key belongs to{}",
        secret.as_ref().map_or_else(String::new, |secret| format!("; the Secret {secret} holds it"))
    )]
    KeyOutsideEstate {
        /// The key.
        key: Key,
        /// What the estate's keys start with.
        root: String,
        /// The store's estate.
        estate: String,
        /// The Secret that holds the key with this estate's label, where one does.
        secret: Option<String>,
    },

    /// A record is waiting for its finalizers, and will be gone after them.
    #[error(
        "the Secret {secret} in {place}, which holds the record {key}, is being deleted and only kept by the \
         finalizers {finalizers:?}; what is written to it would be lost. Let the deletion end: {} patch secret \
         {secret} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'",
        place.kubectl()
    )]
    BeingDeleted {
        /// The Secret.
        secret: String,
        /// The key that it holds.
        key: Key,
        /// What it waits for.
        finalizers: Vec<String>,
        /// Where it is.
        place: Arc<Place>,
    },

    /// The namespace is being deleted, with everything in it.
    #[error(
        "the {place} is being deleted, and every record in it. Nothing can be kept there. Copy what is left \
         ({} get secrets -l {MANAGED_BY}={PLUMBLINE} -o yaml), and choose a namespace that stays",
        place.kubectl()
    )]
    NamespaceTerminating {
        /// The namespace.
        place: Arc<Place>,
    },

    /// The authorizer does not let this identity do it.
    #[error(
        "this identity may not {verb} {resource} in {place}{}. Let it: {} create role plumbline-{verb} \
         --verb={verb} --resource={resource}, and bind it to the identity",
        authorizer_reason(reason), place.kubectl()
    )]
    NotAuthorized {
        /// The verb, as in a Role.
        verb: &'static str,
        /// The resource, as in a Role.
        resource: &'static str,
        /// What the authorizer said, if anything.
        reason: String,
        /// Where.
        place: Arc<Place>,
    },

    /// The authorizer allows it, and something after it refuses.
    #[error(
        "the identity may {verb} secrets in {place}, and admission refused it all the same: {answer}. A quota, \
         a webhook or a policy of the cluster stands in the way; until it is changed no record can be kept \
         there. Look: {} get resourcequotas,limitranges; {} get \
         validatingadmissionpolicybindings,validatingwebhookconfigurations",
        place.kubectl(), place.kubectl_of_cluster()
    )]
    AdmissionDenied {
        /// The verb, as in a Role.
        verb: &'static str,
        /// The API server's words.
        answer: String,
        /// Where.
        place: Arc<Place>,
    },

    /// The credentials are not accepted.
    #[error(
        "{server} does not accept the credentials: {answer}. Renew them, and look who you are: {kubectl} auth \
         whoami"
    )]
    Unauthenticated {
        /// The API server.
        server: String,
        /// Its words.
        answer: String,
        /// The command to look with.
        kubectl: String,
    },

    /// The name of an estate cannot be the value of a label.
    #[error(
        "the estate {estate:?} cannot be kept in Kubernetes: its records carry its name as a label, and a label \
         has 1 to 63 letters, digits, \"-\", \"_\" and \".\" and starts and ends with a letter or digit. Rename \
         the estate"
    )]
    EstateNotALabel {
        /// The estate.
        estate: String,
    },

    /// No namespace can have this name.
    #[error(
        "{namespace:?} cannot be a namespace: the name has 1 to 63 of a-z, 0-9 and \"-\", and neither starts \
         nor ends with \"-\". Look for the right one: kubectl get namespaces"
    )]
    NamespaceName {
        /// The name.
        namespace: String,
    },

    /// A listing does not come to an end, or not to a whole.
    #[error(
        "the list of the Secrets in {place} cannot be trusted: {problem}. Records that are not listed would be \
         taken for absent, and built again. What stands between here and the API server changes its answers; \
         compare: {} get secrets --chunk-size=500 --no-headers | wc -l",
        place.kubectl()
    )]
    ListingWithoutEnd {
        /// What is wrong with it.
        problem: ListingProblem,
        /// Where.
        place: Arc<Place>,
    },
}

impl Refusal {
    /// Whether the authorizer said no, as it does to an identity that is meant to read only. Whoever plans
    /// may go on without what it was not let do; where admission says no, nobody may.
    #[must_use]
    pub fn is_authorizers_denial(&self) -> bool {
        matches!(self, Self::NotAuthorized { .. })
    }
}

/// In what a listing broke the protocol of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListingProblem {
    /// A page says that as many or more remain as the page before it said.
    RemainderStays {
        /// What the page says.
        remaining: i64,
    },
    /// The last page says that more remain.
    EndsEarly {
        /// What the page says.
        remaining: i64,
    },
    /// A page holds nothing and points to another.
    EmptyPage,
    /// A page points to itself.
    SameToken,
    /// The pages of one listing are of different times.
    VersionMoves,
    /// Every start was cut off by 410 Gone.
    AlwaysGone {
        /// How often it was started.
        starts: u32,
    },
}

impl fmt::Display for ListingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RemainderStays { remaining } => {
                write!(f, "{remaining} remain after a page, no fewer than before it")
            }
            Self::EndsEarly { remaining } => {
                write!(f, "it ends although {remaining} remain")
            }
            Self::EmptyPage => f.write_str("a page holds nothing and points to another one"),
            Self::SameToken => f.write_str("a page points to itself"),
            Self::VersionMoves => f.write_str("its pages are of different times"),
            Self::AlwaysGone { starts } => {
                write!(f, "it was started {starts} times, and each time cut off as too old")
            }
        }
    }
}

fn found_label(label: &str, found: Option<&str>) -> String {
    match found {
        None => format!("its label {label} is missing"),
        Some(found) => format!("its label {label} is {found:?}"),
    }
}

fn authorizer_reason(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}
