//! The contract of a cluster: each finding in each of its outcomes.

use std::sync::Arc;

use records::contract::{Access, Finding, Outcome, Setting, StoreContract};
use records::kubernetes::{ClusterContract, POLICY_NAME};
use serde_json::{Value, json};

use super::examples::manifest;
use super::strict::StrictServer;
use super::{put, store, store_of};

const POLICY: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/plumbline-estate-boundary";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
pub(super) const PODS: &str = "/api/v1/namespaces/kube-system/pods";

async fn findings(server: &StrictServer, access: Access) -> Vec<Finding> {
    let contract = ClusterContract::new(Arc::new(store(&server.cluster().await)));
    contract.check(access).await
}

async fn finding(server: &StrictServer, setting: Setting, access: Access) -> Finding {
    let found = findings(server, access).await;
    found.into_iter().find(|finding| finding.setting == setting).unwrap()
}

/// The policy and its binding as they are shipped, looked at by the server.
pub(super) fn install(server: &StrictServer, change: impl FnOnce(&mut Value, &mut Value)) {
    let mut documents = manifest("estate-boundary.yaml").into_iter();
    let (mut policy, mut binding) = (documents.next().unwrap(), documents.next().unwrap());
    assert_eq!(policy["metadata"]["name"], POLICY_NAME);
    policy["metadata"]["generation"] = json!(1);
    policy["status"] = json!({ "observedGeneration": 1, "typeChecking": {} });
    change(&mut policy, &mut binding);
    server.world.put_object(POLICY, policy);
    server.world.put_object(BINDINGS, list(vec![binding]));
}

pub(super) fn list(items: Vec<Value>) -> Value {
    json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": items })
}

#[tokio::test]
async fn every_setting_is_found_in_its_order() {
    let server = StrictServer::start().await;
    let contract = ClusterContract::new(Arc::new(store(&server.cluster().await)));
    for access in [Access::Read, Access::Write] {
        let found: Vec<_> = contract.check(access).await.iter().map(|it| it.setting).collect();
        assert_eq!(found, contract.settings());
    }
}

#[tokio::test]
async fn a_server_without_tls_fails() {
    let server = StrictServer::start().await;
    let found = finding(&server, Setting::TlsVerification, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Failed);
    assert!(found.waivable && found.found.ends_with("is reached without TLS."), "{}", found.found);
}

#[tokio::test]
async fn a_certificate_that_is_not_verified_fails() {
    let server = StrictServer::start().await;
    let path = server.kubeconfig();
    let content = std::fs::read_to_string(&path).unwrap();
    for (skip, outcome) in [("true", Outcome::Failed), ("false", Outcome::Passed)] {
        let server = format!("https://127.0.0.1:9\n    insecure-skip-tls-verify: {skip}");
        let start = content.find("http://").unwrap();
        let end = start + content[start..].find('\n').unwrap();
        let mut content = content.clone();
        content.replace_range(start..end, &server);
        std::fs::write(&path, content).unwrap();
        let access =
            records::kubernetes::ClusterAccess::Kubeconfig { path: path.clone(), context: None };
        let cluster = records::kubernetes::Cluster::connect(&access).await.unwrap();
        let mut options =
            records::kubernetes::KubernetesOptions::new("team", "prod", super::key("prod"));
        options.request_time_out = std::time::Duration::from_millis(100);
        let store = records::kubernetes::KubernetesStore::new(&cluster, options).unwrap();
        let found = ClusterContract::new(Arc::new(store)).check(Access::Read).await;
        assert_eq!(found[0].outcome, outcome, "{}", found[0].found);
        // Nobody answers there: that is not what the other settings are refused for.
        assert_eq!(found[1].outcome, Outcome::NotChecked, "{}", found[1].found);
    }
}

#[tokio::test]
async fn a_plan_needs_to_read_and_an_apply_to_write() {
    let server = StrictServer::start().await;
    let found = finding(&server, Setting::NamespaceAccess, Access::Write).await;
    assert_eq!(found.outcome, Outcome::Passed, "{}", found.found);
    for verb in ["create", "update", "delete"] {
        server.world.deny(verb, "secrets");
    }
    let found = finding(&server, Setting::NamespaceAccess, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Passed, "{}", found.found);
    assert!(found.found.contains("get allowed, list allowed, create denied and not required"));
    let found = finding(&server, Setting::NamespaceAccess, Access::Write).await;
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, false));
    assert!(found.found.contains("update denied and required"), "{}", found.found);
    let commands = found.remedy.unwrap().commands;
    let role = "create role plumbline-applier --verb=create,update,delete --resource=secrets";
    assert!(commands[0].contains(role), "{commands:?}");
    assert!(commands[1].contains("--role=plumbline-applier --user=tester"), "{commands:?}");
    server.world.deny("list", "secrets");
    let found = finding(&server, Setting::NamespaceAccess, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Failed);
}

#[tokio::test]
async fn readers_are_isolated_from_other_estates_and_namespaces() {
    let server = StrictServer::start().await;
    let cluster = server.cluster().await;
    put(&store(&cluster), "prod/a", "body").await;
    let found = finding(&server, Setting::ReadIsolation, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Warned);
    assert!(found.found.contains("every namespace"), "{}", found.found);
    server.world.deny("list", "all secrets");
    let found = finding(&server, Setting::ReadIsolation, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Passed, "{}", found.found);
    put(&store_of(&cluster, "team", "test"), "test/a", "body").await;
    let found = finding(&server, Setting::ReadIsolation, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Warned);
    assert!(found.found.contains("(test)"), "{}", found.found);
    server.world.allow_group("system:authenticated");
    let found = finding(&server, Setting::ReadIsolation, Access::Read).await;
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, true));
    assert!(found.found.contains("system:authenticated"), "{}", found.found);
}

#[tokio::test]
async fn who_may_not_list_reads_that_as_a_finding() {
    let server = StrictServer::start().await;
    server.world.deny("list", "secrets");
    server.world.deny("list", "all secrets");
    let found = finding(&server, Setting::ReadIsolation, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Unreadable, "{}", found.found);
}

#[tokio::test]
async fn the_api_servers_own_options_tell_of_encryption() {
    let server = StrictServer::start().await;
    let pod = |name: &str, command: Value| {
        let container = json!({ "name": "kube-apiserver", "command": command });
        json!({ "metadata": { "name": name }, "spec": { "containers": [container] } })
    };
    let with = ["kube-apiserver", "--encryption-provider-config=/etc/kubernetes/encryption.yaml"];
    let separate = ["kube-apiserver", "--encryption-provider-config", "/etc/encryption.yaml"];
    let other = ["kube-apiserver", "--encryption-provider-config-automatic-reload=true"];
    let by_shell = ["sh", "-c", "kube-apiserver --encryption-provider-config=/etc/x 2>&1"];
    let cases = [
        (vec![pod("a", json!(with)), pod("b", json!(separate))], Outcome::Passed),
        (vec![pod("a", json!(by_shell))], Outcome::Passed),
        (vec![pod("a", json!(with)), pod("b", json!(other))], Outcome::Failed),
        (vec![pod("a", json!(["kube-apiserver"]))], Outcome::Failed),
        (vec![], Outcome::NotChecked),
    ];
    for (pods, outcome) in cases {
        server.world.put_object(PODS, list(pods));
        let found = finding(&server, Setting::EncryptionAtRest, Access::Write).await;
        assert_eq!(found.outcome, outcome, "{}", found.found);
        assert!(found.waivable);
    }
    server.world.deny("list", "pods");
    let found = finding(&server, Setting::EncryptionAtRest, Access::Write).await;
    assert_eq!(found.outcome, Outcome::NotChecked, "{}", found.found);
}

#[tokio::test]
async fn the_shipped_policy_is_the_boundary() {
    let server = StrictServer::start().await;
    let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
    assert_eq!(found.outcome, Outcome::Warned);
    assert!(
        found.remedy.unwrap().commands[0]
            .contains("apply -f examples/kubernetes/estate-boundary.yaml")
    );
    install(&server, |_, _| {});
    let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
    assert_eq!(found.outcome, Outcome::Passed, "{}", found.found);
    server.world.deny("use", "estates");
    let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, false));
    let found = finding(&server, Setting::EstateBoundary, Access::Read).await;
    assert_eq!(found.outcome, Outcome::Passed, "{}", found.found);
}

type Change = fn(&mut Value, &mut Value);

#[tokio::test]
async fn a_boundary_that_only_looks_like_one_fails() {
    let server = StrictServer::start().await;
    let changes: [(&str, Change); 13] = [
        ("failurePolicy", |policy, _| policy["spec"]["failurePolicy"] = json!("Ignore")),
        ("parameters", |policy, _| {
            policy["spec"]["paramKind"] = json!({ "apiVersion": "v1", "kind": "ConfigMap" });
        }),
        ("every create, update and delete", |policy, _| {
            policy["spec"]["matchConstraints"]["resourceRules"][0]["operations"] =
                json!(["CREATE"]);
        }),
        ("every create, update and delete", |policy, _| {
            policy["spec"]["matchConstraints"]["namespaceSelector"] =
                json!({ "matchLabels": { "team": "a" } });
        }),
        ("match conditions", |policy, _| {
            policy["spec"]["matchConditions"][0]["expression"] = json!("false");
        }),
        ("match conditions", |policy, _| {
            let conditions = policy["spec"]["matchConditions"].as_array_mut().unwrap();
            conditions.push(json!({ "name": "never", "expression": "false" }));
        }),
        ("variables", |policy, _| policy["spec"]["variables"][1]["expression"] = json!("'prod'")),
        ("validations", |policy, _| policy["spec"]["validations"][0]["expression"] = json!("true")),
        ("finds fault", |policy, _| {
            policy["status"]["typeChecking"]["expressionWarnings"] = json!([
                { "fieldRef": "spec.validations[0].expression", "warning": "undeclared reference" }
            ]);
        }),
        ("No binding", |_, binding| {
            binding["spec"]["validationActions"] = json!(["Warn", "Audit"])
        }),
        ("No binding", |_, binding| {
            binding["spec"]["matchResources"] =
                json!({ "namespaceSelector": { "matchLabels": { "team": "other" } } });
        }),
        ("No binding", |_, binding| {
            binding["spec"]["matchResources"] =
                json!({ "objectSelector": { "matchLabels": { "team": "other" } } });
        }),
        ("Nothing binds", |_, binding| binding["spec"]["policyName"] = json!("another")),
    ];
    for (told, change) in changes {
        install(&server, change);
        let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
        assert_eq!(found.outcome, Outcome::Failed, "{told}: {}", found.found);
        assert!(found.waivable && found.found.contains(told), "{told}: {}", found.found);
    }
}

#[tokio::test]
async fn what_a_boundary_may_differ_in() {
    let server = StrictServer::start().await;
    let changes: [Change; 3] = [
        // As the API server fills it in.
        |policy, binding| {
            for resources in
                [&mut policy["spec"]["matchConstraints"], &mut binding["spec"]["matchResources"]]
            {
                resources["namespaceSelector"] = json!({});
                resources["objectSelector"] = json!({});
                resources["matchPolicy"] = json!("Equivalent");
            }
            policy["spec"]["matchConstraints"]["resourceRules"][0]["scope"] = json!("*");
        },
        |policy, _| {
            let validations = policy["spec"]["validations"].as_array_mut().unwrap();
            validations.push(json!({ "expression": "object.metadata.name != 'forbidden'" }));
        },
        |_, binding| {
            binding["spec"]["validationActions"] = json!(["Deny", "Audit"]);
            binding["spec"]["matchResources"] = json!({ "namespaceSelector": { "matchExpressions": [
                { "key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team", "other"] }
            ] } });
        },
    ];
    for change in changes {
        install(&server, change);
        let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
        assert_eq!(found.outcome, Outcome::Passed, "{}", found.found);
    }
}

#[tokio::test]
async fn a_policy_that_nobody_looked_at_yet_is_not_checked() {
    let server = StrictServer::start().await;
    let changes: [Change; 2] = [
        |policy, _| policy["metadata"]["generation"] = json!(2),
        |policy, _| policy["status"] = json!({}),
    ];
    for change in changes {
        install(&server, change);
        let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
        assert_eq!(found.outcome, Outcome::NotChecked, "{}", found.found);
    }
}

#[tokio::test]
async fn a_policy_that_may_not_be_read_is_unreadable() {
    let server = StrictServer::start().await;
    install(&server, |_, _| {});
    for resource in ["validatingadmissionpolicybindings", "validatingadmissionpolicies"] {
        server.world.deny("list", resource);
        server.world.deny("get", resource);
        let found = finding(&server, Setting::EstateBoundary, Access::Write).await;
        assert_eq!((found.outcome, found.waivable), (Outcome::Unreadable, true), "{}", found.found);
    }
}
