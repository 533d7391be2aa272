//! The admission policy that keeps each estate to its own records.

use std::collections::BTreeMap;

use k8s_openapi::api::admissionregistration::v1::{
    MatchResources, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicySpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::Api;
use kube::api::ListParams;

use super::permission::{self, CONTRACT, Permission};
use super::{is_denial, unanswered};
use crate::contract::{Access, Finding, Remedy, Setting};
use crate::kubernetes::KubernetesStore;
use crate::kubernetes::access::{Asked, review};
use crate::kubernetes::requests::{Failure, answer};

/// The name of the policy that is shipped.
pub const POLICY_NAME: &str = "plumbline-estate-boundary";
/// The name of its binding.
pub const BINDING_NAME: &str = "plumbline-estate-boundary";

const GROUP: &str = "plumbline.dev";
const RESOURCE: &str = "estates";
const VERB: &str = "use";

/// Which Secrets are records: by type, by label or by name, before or after the write.
const CONDITION: &str = "[object, oldObject].exists(secret, secret != null && ((has(secret.type) && secret.type in ['plumbline.dev/record', 'plumbline.dev/part']) || (has(secret.metadata.labels) && 'plumbline.dev/estate' in secret.metadata.labels) || (has(secret.metadata.name) && secret.metadata.name.matches('^plumbline-[0-9a-f]{64}'))))";
const BEFORE: &str = "oldObject != null && has(oldObject.metadata.labels) && 'plumbline.dev/estate' in oldObject.metadata.labels ? oldObject.metadata.labels['plumbline.dev/estate'] : ''";
const AFTER: &str = "object != null && has(object.metadata.labels) && 'plumbline.dev/estate' in object.metadata.labels ? object.metadata.labels['plumbline.dev/estate'] : ''";
const VALIDATIONS: [&str; 2] = [
    "object == null || (variables.after != '' && authorizer.group('plumbline.dev').resource('estates').namespace(request.namespace).name(variables.after).check('use').allowed())",
    "variables.before == '' || variables.before == variables.after || authorizer.group('plumbline.dev').resource('estates').namespace(request.namespace).name(variables.before).check('use').allowed()",
];

pub(super) async fn finding(store: &KubernetesStore, access: Access) -> Finding {
    let setting = Setting::EstateBoundary;
    let kubectl = store.requests.place.kubectl_of_cluster();
    let readable = async || {
        let permission = Permission {
            purpose: "Let the identity read admission policies (examples/kubernetes/applier.yaml).",
            role: CONTRACT,
            verbs: "get,list",
            resources: "validatingadmissionpolicies,validatingadmissionpolicybindings",
        };
        permission.in_cluster(store).await
    };
    let install = || {
        Remedy::command(
            "Install the policy and its binding.",
            format!("{kubectl} apply -f examples/kubernetes/estate-boundary.yaml"),
        )
    };
    let client = store.requests.cluster.client.clone();
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    let policy = match answer(store.requests.time_out, policies.get(POLICY_NAME)).await {
        Ok(policy) => policy,
        Err(Failure::Status(status)) if status.code == 404 => {
            let found = format!("There is no admission policy {POLICY_NAME}.");
            return Finding::warned(setting, found, install());
        }
        Err(failure) => {
            return unanswered(setting, "the admission policy", failure, readable().await);
        }
    };
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client);
    let bindings = answer(store.requests.time_out, bindings.list(&ListParams::default())).await;
    let bindings = match bindings {
        Ok(bindings) => bindings.items,
        Err(failure) => {
            let remedy = readable().await;
            return unanswered(setting, "the admission policy's bindings", failure, remedy);
        }
    };
    let pretence = |found: String| Finding::failed(setting, found, install());
    if let Some(fault) = fault_of(&policy) {
        return pretence(format!(
            "The admission policy {POLICY_NAME} is not the one that is shipped: {fault}."
        ));
    }
    let labels = namespace_labels(store).await;
    let bound: Vec<_> = bindings
        .iter()
        .filter(|it| {
            it.spec.as_ref().is_some_and(|it| it.policy_name.as_deref() == Some(POLICY_NAME))
        })
        .collect();
    if bound.is_empty() {
        return pretence(format!(
            "Nothing binds the admission policy {POLICY_NAME}: it refuses nothing."
        ));
    }
    if !bound.iter().any(|binding| denies(binding, labels.as_ref())) {
        return pretence(format!(
            "No binding of the admission policy {POLICY_NAME} denies in {}: each warns, audits, needs a \
             parameter or looks elsewhere.",
            store.requests.place
        ));
    }
    if let Some(warning) = type_warning(&policy) {
        return pretence(format!("The API server finds fault with {POLICY_NAME}: {warning}."));
    }
    if access >= Access::Write
        && let Some(finding) = may_use(store).await
    {
        return finding;
    }
    let seen = policy.status.as_ref().and_then(|status| status.observed_generation);
    if seen != policy.metadata.generation || seen.is_none() {
        let found = format!(
            "The API server has not yet looked at the admission policy {POLICY_NAME} as it is now: whether its \
             expressions hold is unknown."
        );
        return Finding::not_checked(setting, found);
    }
    let found = format!(
        "The admission policy {POLICY_NAME} keeps each estate in {} to its own records.",
        store.requests.place
    );
    Finding::passed(setting, found)
}

/// In what a policy differs from the one that is shipped. What only adds to a message is the team's own.
fn fault_of(policy: &ValidatingAdmissionPolicy) -> Option<String> {
    let Some(spec) = &policy.spec else { return Some("it says nothing".to_owned()) };
    if spec.failure_policy.as_deref().unwrap_or("Fail") != "Fail" {
        return Some("its failurePolicy lets pass what it cannot decide".to_owned());
    }
    if spec.param_kind.is_some() {
        return Some("it takes parameters".to_owned());
    }
    if !covers_secrets(spec) {
        return Some("it does not look at every create, update and delete of Secrets".to_owned());
    }
    let conditions = spec.match_conditions.iter().flatten();
    let conditions: Vec<_> = conditions.map(|it| it.expression.as_str()).collect();
    if conditions != [CONDITION] {
        return Some("its match conditions are others".to_owned());
    }
    let variables = spec.variables.iter().flatten();
    let variables: Vec<_> =
        variables.map(|it| (it.name.as_str(), it.expression.as_str())).collect();
    if variables != [("before", BEFORE), ("after", AFTER)] {
        return Some("its variables are others".to_owned());
    }
    let validations = spec.validations.iter().flatten();
    let validations: Vec<_> = validations.map(|it| it.expression.as_str()).collect();
    // More of them only refuse more.
    let missing = VALIDATIONS.iter().any(|expression| !validations.contains(expression));
    missing.then(|| "its validations are others".to_owned())
}

fn covers_secrets(spec: &ValidatingAdmissionPolicySpec) -> bool {
    let Some(constraints) = &spec.match_constraints else { return false };
    if !is_everywhere(constraints)
        || constraints.exclude_resource_rules.iter().flatten().count() > 0
    {
        return false;
    }
    let has = |list: &Option<Vec<String>>, wanted: &str| {
        list.iter().flatten().any(|found| found == wanted || found == "*")
    };
    constraints.resource_rules.iter().flatten().any(|rule| {
        rule.resource_names.iter().flatten().count() == 0
            && rule.scope.as_deref() != Some("Cluster")
            && has(&rule.api_groups, "")
            && has(&rule.api_versions, "v1")
            && has(&rule.resources, "secrets")
            && ["CREATE", "UPDATE", "DELETE"].iter().all(|it| has(&rule.operations, it))
    })
}

/// Whether nothing narrows it to some namespaces or objects.
fn is_everywhere(resources: &MatchResources) -> bool {
    let empty = |selector: &Option<LabelSelector>| {
        selector.as_ref().is_none_or(|it| {
            it.match_labels.iter().flatten().count() == 0
                && it.match_expressions.iter().flatten().count() == 0
        })
    };
    empty(&resources.namespace_selector) && empty(&resources.object_selector)
}

/// Whether a binding refuses, in this namespace, what the policy finds wrong.
fn denies(
    binding: &ValidatingAdmissionPolicyBinding,
    namespace: Option<&BTreeMap<String, String>>,
) -> bool {
    let Some(spec) = &binding.spec else { return false };
    let denies = spec.validation_actions.iter().flatten().any(|action| action == "Deny");
    if !denies || spec.param_ref.is_some() {
        return false;
    }
    let Some(resources) = &spec.match_resources else { return true };
    if is_everywhere(resources) {
        return is_unrestricted(resources);
    }
    let objects = MatchResources { namespace_selector: None, ..resources.clone() };
    let (Some(selector), Some(labels)) = (&resources.namespace_selector, namespace) else {
        return false;
    };
    is_everywhere(&objects) && is_unrestricted(resources) && selects(selector, labels)
}

fn is_unrestricted(resources: &MatchResources) -> bool {
    resources.resource_rules.iter().flatten().count() == 0
        && resources.exclude_resource_rules.iter().flatten().count() == 0
}

fn selects(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let by_label =
        selector.match_labels.iter().flatten().all(|(name, value)| labels.get(name) == Some(value));
    let by_expression = selector.match_expressions.iter().flatten().all(|it| {
        let found = labels.get(&it.key);
        let among = || found.is_some_and(|value| it.values.iter().flatten().any(|v| v == value));
        match it.operator.as_str() {
            "In" => among(),
            "NotIn" => !among(),
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    });
    by_label && by_expression
}

async fn namespace_labels(store: &KubernetesStore) -> Option<BTreeMap<String, String>> {
    Some(store.requests.namespace().await.ok()?.metadata.labels.unwrap_or_default())
}

fn type_warning(policy: &ValidatingAdmissionPolicy) -> Option<String> {
    let checking = policy.status.as_ref()?.type_checking.as_ref()?;
    let warning = checking.expression_warnings.iter().flatten().next()?;
    Some(format!("{}: {}", warning.field_ref, warning.warning.trim()))
}

/// The finding where the policy would refuse this identity's own writes.
async fn may_use(store: &KubernetesStore) -> Option<Finding> {
    let setting = Setting::EstateBoundary;
    let (place, estate) = (&store.requests.place, store.estate.label.as_str());
    let asked = Asked {
        verb: VERB,
        group: GROUP,
        resource: RESOURCE,
        name: estate,
        namespace: &place.namespace,
    };
    let remedy = async || permission::of_estate(store, (GROUP, RESOURCE, VERB)).await;
    match review(&store.requests.cluster, asked, store.requests.time_out).await {
        Ok(review) if review.allowed => None,
        Ok(_) => {
            let found = format!(
                "This identity may not use the estate {estate} in {place}: the admission policy would refuse \
                 each of its writes."
            );
            Some(Finding::failed(setting, found, remedy().await).never_waived())
        }
        Err(Failure::Status(status)) if is_denial(&status) => {
            let found =
                format!("Whether the estate may be used cannot be asked: {}.", status.message);
            Some(Finding::unreadable(setting, found, remedy().await))
        }
        Err(failure) => {
            Some(unanswered(setting, "whether the estate may be used", failure, remedy().await))
        }
    }
}
