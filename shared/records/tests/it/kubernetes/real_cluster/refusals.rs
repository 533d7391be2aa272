//! What others do to Secrets, refused as the real server shows them, and mended by what the refusal says.

use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::core::v1::{ResourceQuota, Secret};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use records::RecordStore;
use records::kubernetes::{
    BINDING_NAME, ESTATE, KEY, KubernetesStore, MANAGED_BY, POLICY_NAME, Refusal,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::sync::MutexGuard;

use super::super::{key, put, refusal, store_of};
use super::{POLICY, RealCluster};

/// A namespace with one record of the estate `prod`, and the name of its Secret.
async fn one_record(namespace: &str) -> (RealCluster, KubernetesStore, Secret) {
    let real = RealCluster::connect().await;
    real.create_namespace(namespace).await;
    let store = store_of(&real.cluster, namespace, "prod");
    put(&store, "prod/a", "body").await;
    let secret =
        real.secrets(namespace).list(&ListParams::default()).await.unwrap().items.remove(0);
    (real, store, secret)
}

async fn copy(secrets: &Api<Secret>, secret: &Secret, name: &str) {
    let mut copy = secret.clone();
    copy.metadata = kube::api::ObjectMeta {
        name: Some(name.to_owned()),
        labels: secret.metadata.labels.clone(),
        annotations: secret.metadata.annotations.clone(),
        ..Default::default()
    };
    secrets.create(&PostParams::default(), &copy).await.unwrap();
}

/// Takes away the boundary that another test may have left, for as long as the answer is kept.
async fn without_boundary() -> MutexGuard<'static, ()> {
    let held = POLICY.lock().await;
    let client = RealCluster::connect().await.client;
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client);
    // Where there is none, there is nothing to take away.
    let _ = bindings.delete(BINDING_NAME, &DeleteParams::default()).await;
    let _ = policies.delete(POLICY_NAME, &DeleteParams::default()).await;
    held
}

async fn edit(secrets: &Api<Secret>, name: &str, metadata: Value) {
    let (patch, begun) = (json!({ "metadata": metadata }), Instant::now());
    loop {
        let patched = secrets.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await;
        match patched {
            // The boundary, which another test has taken away, is in effect a moment longer.
            Err(kube::Error::Api(status))
                if status.code == 403 && begun.elapsed() < Duration::from_secs(60) =>
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            patched => break drop(patched.unwrap()),
        }
    }
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn copies_and_records_under_other_names_are_refused() {
    let (real, store, secret) = one_record("copies").await;
    let secrets = real.secrets("copies");
    let name = secret.metadata.name.clone().unwrap();
    copy(&secrets, &secret, "a-copy").await;
    let found = refusal(store.list("").await);
    assert!(
        matches!(&found, Refusal::DuplicateKey { right, other, .. } if *right == name && other == "a-copy"),
        "{found}"
    );
    // The record itself is read by its name.
    assert!(store.get(&key("prod/a")).await.unwrap().is_some());
    secrets.delete(&name, &Default::default()).await.unwrap();
    let found = refusal(store.list("").await);
    assert!(matches!(&found, Refusal::Misnamed { secret, .. } if secret == "a-copy"), "{found}");
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn annotations_and_labels_of_others_are_refused() {
    // Not while the boundary forbids what somebody else's hands do here.
    let _policy = without_boundary().await;
    let (real, store, secret) = one_record("annotations").await;
    let secrets = real.secrets("annotations");
    let name = secret.metadata.name.clone().unwrap();
    for wrong in [Value::Null, json!("/no/key")] {
        edit(&secrets, &name, json!({ "annotations": { KEY: wrong } })).await;
        for found in [refusal(store.get(&key("prod/a")).await), refusal(store.list("").await)] {
            assert!(matches!(found, Refusal::Unannotated { .. }), "{found}");
        }
    }
    edit(&secrets, &name, json!({ "annotations": { KEY: "prod/b" } })).await;
    let found = refusal(store.get(&key("prod/a")).await);
    assert!(
        matches!(&found, Refusal::KeyCollision { found, .. } if *found == key("prod/b")),
        "{found}"
    );
    edit(&secrets, &name, json!({ "annotations": { KEY: "other/a" } })).await;
    let found = refusal(store.list("").await);
    assert!(
        matches!(&found, Refusal::KeyOutsideEstate { secret: Some(it), .. } if *it == name),
        "{found}"
    );
    edit(
        &secrets,
        &name,
        json!({ "annotations": { KEY: "prod/a" }, "labels": { MANAGED_BY: "Helm" } }),
    )
    .await;
    let found = refusal(store.list("").await);
    assert!(
        matches!(&found, Refusal::Unlabelled { found: Some(it), .. } if it == "Helm"),
        "{found}"
    );
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_token_that_is_not_accepted_is_named() {
    let real = RealCluster::connect().await;
    let nobody = real
        .connect_with("nobody", |config| config["users"][0]["user"] = json!({ "token": "expired" }))
        .await;
    let found = refusal(store_of(&nobody, "default", "prod").get(&key("prod/a")).await);
    assert!(matches!(found, Refusal::Unauthenticated { .. }), "{found}");
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_quota_is_admission_and_no_missing_role() {
    let (real, store, _) = one_record("quota").await;
    let quotas: Api<ResourceQuota> = Api::namespaced(real.client.clone(), "quota");
    let hard = json!({ "count/secrets": "1" });
    let quota = json!({ "metadata": { "name": "records" }, "spec": { "hard": hard } });
    quotas.create(&PostParams::default(), &serde_json::from_value(quota).unwrap()).await.unwrap();
    // What a controller would have counted.
    let counted = json!({ "status": { "hard": hard, "used": { "count/secrets": "1" } } });
    let params = PatchParams::default();
    quotas.patch_status("records", &params, &Patch::Merge(&counted)).await.unwrap();
    let started = std::time::Instant::now();
    let mut number = 0;
    let found = loop {
        number += 1;
        match store.put_if_absent(&key(&format!("prod/{number}")), "x".into()).await {
            Ok(_) => assert!(started.elapsed().as_secs() < 60, "the quota refuses nothing"),
            refused => break refusal(refused),
        }
    };
    assert!(matches!(&found, Refusal::AdmissionDenied { verb: "create", .. }), "{found}");
    assert!(found.to_string().contains("exceeded quota"), "{found}");
    assert!(!found.is_authorizers_denial());
}

/// The commands that a refusal names, run as they stand.
#[tokio::test]
#[ignore = "needs a real API server"]
async fn kubectl_mends_what_a_refusal_names() {
    // Not while the boundary forbids what somebody else's hands do here.
    let _policy = without_boundary().await;
    let (real, store, secret) = one_record("mended").await;
    let secrets = real.secrets("mended");
    let name = secret.metadata.name.clone().unwrap();
    let mend = async |found: Refusal| {
        let said = found.to_string();
        let (start, end) = (said.rfind("kubectl").unwrap(), said.trim_end_matches(')').len());
        real.paste(&said[start..end]);
        assert_eq!(store.list("").await.unwrap().len(), 1, "{said}");
        assert!(store.get(&key("prod/a")).await.unwrap().is_some(), "{said}");
    };
    copy(&secrets, &secret, "a-copy").await;
    mend(refusal(store.list("").await)).await;
    edit(&secrets, &name, json!({ "labels": { ESTATE: "other" } })).await;
    mend(refusal(store.list("").await)).await;
    edit(&secrets, &name, json!({ "labels": { ESTATE: null, MANAGED_BY: null } })).await;
    mend(refusal(store.list("").await)).await;
    edit(&secrets, &name, json!({ "annotations": { KEY: "prod/b" } })).await;
    mend(refusal(store.get(&key("prod/a")).await)).await;

    edit(&secrets, &name, json!({ "finalizers": ["example.com/keep"] })).await;
    let version = store.get(&key("prod/a")).await.unwrap().unwrap().version;
    let said = refusal(store.delete(&key("prod/a"), &version).await).to_string();
    real.paste(&said[said.rfind("kubectl").unwrap()..]);
    assert!(store.get(&key("prod/a")).await.unwrap().is_none(), "{said}");

    let nowhere = store_of(&real.cluster, "mended-elsewhere", "prod");
    let said = nowhere.list("").await.unwrap_err().to_string();
    let start = said.find("kubectl").unwrap();
    real.paste(&said[start..start + said[start..].find(')').unwrap()]);
    assert!(nowhere.list("").await.unwrap().is_empty());
}
