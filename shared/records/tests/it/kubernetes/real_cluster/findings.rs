//! The findings of a cluster as the real server shows them, and remedies that are pasted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use records::contract::{Access, Finding, Outcome, Setting, StoreContract};
use records::kubernetes::{BINDING_NAME, Cluster, ClusterContract, POLICY_NAME};
use serde_json::json;

use super::super::{put, store_of};
use super::{POLICY, RealCluster, findings, of};

/// The finding once it has the outcome: what RBAC allows takes effect a moment after it was changed.
async fn becomes(
    cluster: &Cluster,
    namespace: &str,
    (setting, outcome): (Setting, Outcome),
) -> Finding {
    let started = Instant::now();
    loop {
        let found = of(&findings(cluster, namespace, Access::Write).await, setting).clone();
        if found.outcome == outcome {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{found:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn who_else_may_read_is_found() {
    let real = RealCluster::connect().await;
    real.create_namespace("reading").await;
    let everywhere =
        becomes(&real.cluster, "reading", (Setting::ReadIsolation, Outcome::Warned)).await;
    assert!(everywhere.found.contains("of every namespace of"), "{}", everywhere.found);

    real.apply("applier.yaml", "reading", "production").await;
    let applier = real.connect_as("system:serviceaccount:reading:plumbline-applier").await;
    let alone = becomes(&applier, "reading", (Setting::ReadIsolation, Outcome::Passed)).await;
    assert!(alone.found.ends_with("holds the records of one estate alone."), "{}", alone.found);
    put(&store_of(&real.cluster, "reading", "other"), "other/a", "body").await;
    let shared = becomes(&applier, "reading", (Setting::ReadIsolation, Outcome::Warned)).await;
    assert!(shared.found.contains("other estates (other)"), "{}", shared.found);

    let binding = json!({
        "metadata": { "name": "everybody" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "plumbline-applier" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated" }],
    });
    let bindings: Api<RoleBinding> = Api::namespaced(real.client.clone(), "reading");
    let binding = serde_json::from_value(binding).unwrap();
    bindings.create(&PostParams::default(), &binding).await.unwrap();
    let failed = becomes(&applier, "reading", (Setting::ReadIsolation, Outcome::Failed)).await;
    assert!(failed.waivable && failed.found.contains("system:authenticated"), "{failed:#?}");
    bindings.delete("everybody", &Default::default()).await.unwrap();

    let stranger = real.connect_as("nobody-in-particular").await;
    let unreadable =
        becomes(&stranger, "reading", (Setting::ReadIsolation, Outcome::Unreadable)).await;
    assert!(unreadable.waivable, "{unreadable:#?}");
    let denied = becomes(&stranger, "reading", (Setting::NamespaceAccess, Outcome::Failed)).await;
    assert!(!denied.waivable && denied.found.contains("get denied"), "{denied:#?}");
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_certificate_that_is_not_verified_fails() {
    let real = RealCluster::connect().await;
    let unverified = real
        .connect_with("unverified", |config| {
            let cluster = config["clusters"][0]["cluster"].as_object_mut().unwrap();
            cluster.retain(|name, _| name == "server");
            cluster.insert("insecure-skip-tls-verify".to_owned(), json!(true));
        })
        .await;
    let found = findings(&unverified, "default", Access::Read).await;
    let found = of(&found, Setting::TlsVerification);
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, true), "{found:#?}");
    assert_eq!(
        of(&findings(&real.cluster, "default", Access::Read).await, Setting::TlsVerification)
            .outcome,
        Outcome::Passed
    );
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_boundary_that_is_missing_or_only_looks_like_one_is_found() {
    let real = RealCluster::connect().await;
    real.create_namespace("bounded").await;
    real.apply("applier.yaml", "bounded", "production").await;
    let applier = real.connect_as("system:serviceaccount:bounded:plumbline-applier").await;
    let _policy = POLICY.lock().await;
    real.install_policy("bounded").await;
    let boundary = |outcome| (Setting::EstateBoundary, outcome);
    becomes(&applier, "bounded", boundary(Outcome::Passed)).await;

    // Another estate than the one that the identity may use.
    let other = ClusterContract::new(Arc::new(store_of(&applier, "bounded", "other")));
    let found = other.check(Access::Write).await;
    let found = of(&found, Setting::EstateBoundary);
    assert_eq!((found.outcome, found.waivable), (Outcome::Failed, false), "{found:#?}");
    let found = other.check(Access::Read).await;
    assert_eq!(of(&found, Setting::EstateBoundary).outcome, Outcome::Passed);

    let policies: Api<ValidatingAdmissionPolicy> = Api::all(real.client.clone());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(real.client.clone());
    let params = PatchParams::default();
    for (change, told) in [
        (json!({ "failurePolicy": "Ignore" }), "its failurePolicy lets pass"),
        (
            json!({ "failurePolicy": "Fail", "matchConditions": null }),
            "its match conditions are others",
        ),
    ] {
        let change = json!({ "spec": change });
        policies.patch(POLICY_NAME, &params, &Patch::Merge(&change)).await.unwrap();
        let found = becomes(&applier, "bounded", boundary(Outcome::Failed)).await;
        assert!(found.waivable && found.found.contains(told), "{found:#?}");
    }
    real.install_policy("bounded").await;
    let change = json!({ "spec": { "validationActions": ["Warn"] } });
    bindings.patch(BINDING_NAME, &params, &Patch::Merge(&change)).await.unwrap();
    let found = becomes(&applier, "bounded", boundary(Outcome::Failed)).await;
    assert!(found.found.contains("No binding of the admission policy"), "{found:#?}");
    bindings.delete(BINDING_NAME, &Default::default()).await.unwrap();
    let found = becomes(&applier, "bounded", boundary(Outcome::Failed)).await;
    assert!(found.found.contains("Nothing binds the admission policy"), "{found:#?}");
    policies.delete(POLICY_NAME, &Default::default()).await.unwrap();
    let found = becomes(&applier, "bounded", boundary(Outcome::Warned)).await;
    assert!(found.found.contains("There is no admission policy"), "{found:#?}");

    // Beside the API server that another test started with encryption, one without.
    let pod = json!({
        "metadata": { "name": "kube-apiserver-2", "labels": { "component": "kube-apiserver" } },
        "spec": { "containers": [{ "name": "kube-apiserver", "image": "kube-apiserver",
            "command": ["kube-apiserver"] }] }
    });
    let pods: Api<Pod> = Api::namespaced(real.client.clone(), "kube-system");
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let found = becomes(&applier, "bounded", (Setting::EncryptionAtRest, Outcome::Failed)).await;
    assert!(found.waivable && found.found.contains("kube-apiserver-2"), "{found:#?}");
    let now = kube::api::DeleteParams { grace_period_seconds: Some(0), ..Default::default() };
    pods.delete("kube-apiserver-2", &now).await.unwrap();
}

/// The commands that findings name, run as they stand by an administrator.
#[tokio::test]
#[ignore = "needs a real API server"]
async fn kubectl_remedies_give_an_identity_what_it_lacks() {
    let real = RealCluster::connect().await;
    real.create_namespace("granting").await;
    let newcomer = real.connect_as("newcomer@example.com").await;
    let _policy = POLICY.lock().await;
    real.install_policy("granting").await;
    for (setting, outcome) in [
        (Setting::ReadIsolation, Outcome::Unreadable),
        (Setting::NamespaceAccess, Outcome::Failed),
        (Setting::EstateBoundary, Outcome::Unreadable),
        // It may be read now, and its estate not be used.
        (Setting::EstateBoundary, Outcome::Failed),
    ] {
        let found = becomes(&newcomer, "granting", (setting, outcome)).await;
        let remedy = found.remedy.unwrap();
        for command in &remedy.commands {
            assert!(!command.contains("IDENTITY"), "{command}");
            real.paste(command);
        }
        // Twice is once.
        real.paste(&remedy.commands[0]);
    }
    for setting in [Setting::ReadIsolation, Setting::NamespaceAccess, Setting::EstateBoundary] {
        becomes(&newcomer, "granting", (setting, Outcome::Passed)).await;
    }
    let store = store_of(&newcomer, "granting", "production");
    put(&store, "production/a", "body").await;
}
