//! Against a real API server, whose user may do anything and impersonate anybody:
//!
//!     scripts/stand-ins run --servers kubernetes -- \
//!         cargo test -p records --features kubernetes --test it real_cluster -- --ignored
//!
//! What a real one does only once a year (410 Gone on demand, answers that are lost, listings without an end) is
//! provoked on the strict server of these tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hyper::Request;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::core::v1::{Namespace, Pod, Secret};
use kube::Api;
use kube::api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use records::conformance::records;
use records::contract::{Access, Finding, Outcome, Setting, StoreContract};
use records::kubernetes::{
    BINDING_NAME, Cluster, ClusterAccess, ClusterContract, ESTATE, KubernetesOptions,
    KubernetesStore, MAX_STORED_SIZE, POLICY_NAME, Refusal,
};
use records::{RecordStore, StoreError};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::conditional_writes::noise;
use super::examples::manifest;
use super::{key, put, refusal, store_of};

mod findings;
mod refusals;

/// The admission policy is the cluster's: a test that changes it has it to itself.
static POLICY: Mutex<()> = Mutex::const_new(());

struct RealCluster {
    cluster: Cluster,
    client: kube::Client,
    kubeconfig: PathBuf,
    folder: TempDir,
}

impl RealCluster {
    async fn connect() -> Self {
        let path =
            std::env::var_os("KUBERNETES_KUBECONFIG").expect("KUBERNETES_KUBECONFIG is not set");
        let kubeconfig = PathBuf::from(path);
        let access = ClusterAccess::Kubeconfig { path: kubeconfig.clone(), context: None };
        let cluster = Cluster::connect(&access).await.unwrap();
        let config = kube::config::Kubeconfig::read_from(&kubeconfig).unwrap();
        let config =
            kube::Config::from_custom_kubeconfig(config, &Default::default()).await.unwrap();
        let client = kube::Client::try_from(config).unwrap();
        Self { cluster, client, kubeconfig, folder: tempfile::tempdir().unwrap() }
    }

    /// The cluster as another user sees it.
    async fn connect_as(&self, user: &str) -> Cluster {
        let name = user.replace(':', "-");
        self.connect_with(&name, |config| config["users"][0]["user"]["as"] = json!(user)).await
    }

    /// The cluster through a kubeconfig that differs.
    async fn connect_with(&self, name: &str, change: impl FnOnce(&mut Value)) -> Cluster {
        let text = std::fs::read_to_string(&self.kubeconfig).unwrap();
        let mut config: Value = serde_saphyr::from_str(&text).unwrap();
        change(&mut config);
        let path = self.folder.path().join(name);
        std::fs::write(&path, config.to_string()).unwrap();
        let access = ClusterAccess::Kubeconfig { path, context: None };
        Cluster::connect(&access).await.unwrap()
    }

    /// Runs a line of a shell with kubectl in it, as an administrator would who pastes a remedy.
    fn paste(&self, line: &str) {
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", line]).env("KUBECONFIG", &self.kubeconfig).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{said}");
    }

    /// The shipped admission policy, as if nobody had ever made or changed one.
    async fn install_policy(&self, namespace: &str) {
        let policies: Api<ValidatingAdmissionPolicy> = Api::all(self.client.clone());
        let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(self.client.clone());
        let _ = bindings.delete(BINDING_NAME, &Default::default()).await;
        let _ = policies.delete(POLICY_NAME, &Default::default()).await;
        self.apply("estate-boundary.yaml", namespace, "production").await;
        let started = std::time::Instant::now();
        loop {
            let policy = policies.get(POLICY_NAME).await.unwrap();
            let status = policy.status.unwrap_or_default();
            if status.observed_generation.is_some() {
                let warnings = status.type_checking.and_then(|it| it.expression_warnings);
                return assert_eq!(warnings, None);
            }
            assert!(started.elapsed() < Duration::from_secs(60), "nobody looks at the policy");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn create_namespace(&self, name: &str) {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..Default::default() };
        let namespace = Namespace { metadata, ..Default::default() };
        let namespaces = Api::all(self.client.clone());
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    }

    fn secrets(&self, namespace: &str) -> Api<Secret> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Creates the objects of a manifest, with another namespace and estate than the example's.
    async fn apply(&self, name: &str, namespace: &str, estate: &str) {
        for document in manifest(name) {
            let text =
                document.to_string().replace("\"infrastructure\"", &format!("\"{namespace}\""));
            let mut object: Value =
                serde_json::from_str(&text.replace("\"production\"", &format!("\"{estate}\"")))
                    .unwrap();
            let kind = object["kind"].as_str().unwrap().to_owned();
            let is_namespaced = object["metadata"].get("namespace").is_some();
            if !is_namespaced && kind.starts_with("ClusterRole") {
                // Shared by tests, and the subjects of each are its own.
                object["metadata"]["name"] = json!(format!("{namespace}-contract"));
                if kind == "ClusterRoleBinding" {
                    object["roleRef"]["name"] = json!(format!("{namespace}-contract"));
                }
            }
            if object["metadata"]["namespace"] == "kube-system" {
                object["metadata"]["name"] = json!(format!("{namespace}-contract"));
                if kind == "RoleBinding" {
                    object["roleRef"]["name"] = json!(format!("{namespace}-contract"));
                }
            }
            let plural = match kind.as_str() {
                "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
                kind => format!("{}s", kind.to_lowercase()),
            };
            let version = object["apiVersion"].as_str().unwrap();
            let scope = match object["metadata"]["namespace"].as_str() {
                Some(namespace) => format!("/namespaces/{namespace}"),
                None => String::new(),
            };
            let request = Request::post(format!("/apis/{version}{scope}/{plural}"))
                .header("content-type", "application/json")
                .body(object.to_string().into_bytes())
                .unwrap();
            match self.client.request::<Value>(request).await {
                Ok(_) => {}
                // The policy is the cluster's, and every test may find it there.
                Err(kube::Error::Api(status)) if status.is_already_exists() => {}
                Err(error) => panic!("{kind}: {error}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a real API server"]
async fn the_suite_passes() {
    let real = RealCluster::connect().await;
    let number = AtomicUsize::new(0);
    let prefix = format!("suite-{}", std::process::id());
    let report = records(|| {
        let namespace = format!("{prefix}-{}", number.fetch_add(1, Ordering::Relaxed));
        let real = &real;
        async move {
            real.create_namespace(&namespace).await;
            let options = KubernetesOptions::new(&namespace, "conformance", key("conformance"));
            Arc::new(KubernetesStore::new(&real.cluster, options).unwrap()) as Arc<dyn RecordStore>
        }
    })
    .await;
    assert!(!report.findings.is_empty());
    assert_eq!(report.violations().count(), 0, "\n{report}");
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn pages_make_one_listing() {
    let real = RealCluster::connect().await;
    real.create_namespace("pages").await;
    let mut options = KubernetesOptions::new("pages", "prod", key("prod"));
    options.page_size = 3;
    let store = KubernetesStore::new(&real.cluster, options).unwrap();
    for number in 0..20 {
        put(&store, &format!("prod/{number}"), "body").await;
    }
    assert_eq!(store.list("prod/1").await.unwrap().len(), 11);
    assert_eq!(store.get_all("").await.unwrap().len(), 20);
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_result_in_parts_is_one_record() {
    let real = RealCluster::connect().await;
    real.create_namespace("parts").await;
    let store = store_of(&real.cluster, "parts", "prod");
    let claimed = put(&store, "prod/a", "claimed").await;
    let large = noise(5 * MAX_STORED_SIZE / 2, 7);
    let refused = store.put_if_version(&key("prod/a"), large.clone(), &claimed).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    let version = store.put_in_parts(&key("prod/a"), large.clone(), &claimed).await.unwrap();
    assert!(store.get(&key("prod/a")).await.unwrap().unwrap().body == large);
    assert!(store.get_all("").await.unwrap()[0].1.body == large);
    let count =
        || async { real.secrets("parts").list(&ListParams::default()).await.unwrap().items.len() };
    assert_eq!(count().await, 3);
    let lost = store.put_in_parts(&key("prod/a"), noise(2 * MAX_STORED_SIZE, 8), &claimed).await;
    assert!(lost.unwrap_err().is_conflict());
    assert_eq!(count().await, 3);
    store.delete(&key("prod/a"), &version).await.unwrap();
    assert_eq!(count().await, 0);
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_namespace_that_is_missing_or_going_is_told() {
    let real = RealCluster::connect().await;
    let nowhere = store_of(&real.cluster, "nowhere", "prod");
    let errors = [
        nowhere.get(&key("prod/a")).await.map(drop).unwrap_err(),
        nowhere.list("").await.map(drop).unwrap_err(),
        nowhere.put_if_absent(&key("prod/a"), "x".into()).await.map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::RootMissing { .. }), "{error}");
    }
    real.create_namespace("going").await;
    let namespaces: Api<Namespace> = Api::all(real.client.clone());
    let store = store_of(&real.cluster, "going", "prod");
    let version = put(&store, "prod/a", "body").await;
    namespaces.delete("going", &Default::default()).await.unwrap();
    let found = refusal(store.put_if_absent(&key("prod/b"), "x".into()).await);
    assert!(matches!(found, Refusal::NamespaceTerminating { .. }), "{found}");
    store.delete(&key("prod/a"), &version).await.unwrap();
    let fresh = store_of(&real.cluster, "going", "prod");
    for found in [refusal(fresh.get(&key("prod/a")).await), refusal(fresh.list("").await)] {
        assert!(matches!(found, Refusal::NamespaceTerminating { .. }), "{found}");
    }
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn edits_of_others_are_refused_and_conflict() {
    let real = RealCluster::connect().await;
    real.create_namespace("edits").await;
    let store = store_of(&real.cluster, "edits", "prod");
    let version = put(&store, "prod/a", "body").await;
    let secrets = real.secrets("edits");
    let name =
        secrets.list(&ListParams::default()).await.unwrap().items.remove(0).metadata.name.unwrap();
    let edit = |labels: Value, finalizers: Value| {
        let patch = json!({ "metadata": { "labels": labels, "finalizers": finalizers } });
        let (secrets, name) = (secrets.clone(), name.clone());
        async move {
            secrets.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap()
        }
    };
    edit(json!({ ESTATE: null }), Value::Null).await;
    for found in [refusal(store.get(&key("prod/a")).await), refusal(store.list("").await)] {
        assert!(matches!(found, Refusal::Unlabelled { .. }), "{found}");
    }
    edit(json!({ ESTATE: "other" }), Value::Null).await;
    let found = refusal(store.put_if_version(&key("prod/a"), "x".into(), &version).await);
    assert!(matches!(found, Refusal::ForeignEstate { .. }), "{found}");
    edit(json!({ ESTATE: "prod" }), json!(["example.com/keep"])).await;
    let stale = store.delete(&key("prod/a"), &version).await.unwrap_err();
    assert!(stale.is_conflict(), "{stale}");
    let version = store.get(&key("prod/a")).await.unwrap().unwrap().version;
    let found = refusal(store.delete(&key("prod/a"), &version).await);
    assert!(matches!(found, Refusal::BeingDeleted { .. }), "{found}");
    edit(json!({}), Value::Null).await;
    assert!(store.get(&key("prod/a")).await.unwrap().is_none());
}

async fn findings(cluster: &Cluster, namespace: &str, access: Access) -> Vec<Finding> {
    let store = store_of(cluster, namespace, "production");
    ClusterContract::new(Arc::new(store)).check(access).await
}

fn of(findings: &[Finding], setting: Setting) -> &Finding {
    findings.iter().find(|finding| finding.setting == setting).unwrap()
}

#[tokio::test]
#[ignore = "needs a real API server"]
async fn a_planner_reads_and_is_denied_the_rest_by_the_authorizer() {
    let real = RealCluster::connect().await;
    real.create_namespace("planning").await;
    real.apply("planner.yaml", "planning", "production").await;
    let planner = real.connect_as("system:serviceaccount:planning:plumbline-planner").await;
    let store = store_of(&planner, "planning", "production");
    assert!(store.get(&key("production/a")).await.unwrap().is_none());
    assert!(store.list("").await.unwrap().is_empty());
    let found = refusal(store.put_if_absent(&key("production/a"), "x".into()).await);
    assert!(found.is_authorizers_denial(), "{found}");
    let found = findings(&planner, "planning", Access::Read).await;
    assert_eq!(of(&found, Setting::NamespaceAccess).outcome, Outcome::Passed, "{found:?}");
    assert_eq!(of(&found, Setting::ReadIsolation).outcome, Outcome::Passed, "{found:?}");
    assert_eq!(of(&found, Setting::EstateBoundary).outcome, Outcome::Unreadable, "{found:?}");
    let found = findings(&planner, "planning", Access::Write).await;
    assert_eq!(of(&found, Setting::NamespaceAccess).outcome, Outcome::Failed, "{found:?}");
    let stranger = real.connect_as("stranger").await;
    let found = refusal(store_of(&stranger, "planning", "production").list("").await);
    assert!(found.is_authorizers_denial(), "{found}");
}

/// The shipped policy, its types checked by the cluster itself, and what it refuses.
#[tokio::test]
#[ignore = "needs a real API server"]
async fn the_shipped_manifests_keep_the_whole_contract() {
    let real = RealCluster::connect().await;
    real.create_namespace("applying").await;
    real.apply("applier.yaml", "applying", "production").await;
    let applier = real.connect_as("system:serviceaccount:applying:plumbline-applier").await;
    let _policy = POLICY.lock().await;
    // Before the policy and without a control plane in Pods.
    let found = findings(&applier, "applying", Access::Write).await;
    let encryption = of(&found, Setting::EncryptionAtRest);
    assert_eq!(encryption.outcome, Outcome::NotChecked, "{found:?}");

    real.install_policy("applying").await;
    let started = std::time::Instant::now();

    let pod = json!({
        "metadata": { "name": "kube-apiserver-1", "labels": { "component": "kube-apiserver" } },
        "spec": { "containers": [{ "name": "kube-apiserver", "image": "kube-apiserver",
            "command": ["kube-apiserver", "--encryption-provider-config=/etc/kubernetes/encryption.yaml"] }] }
    });
    let pods: Api<Pod> = Api::namespaced(real.client.clone(), "kube-system");
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();

    let found = findings(&applier, "applying", Access::Write).await;
    for finding in &found {
        assert_eq!(finding.outcome, Outcome::Passed, "{found:?}");
    }

    // An admission policy takes effect a moment after it was made.
    let store = store_of(&applier, "applying", "production");
    let other = store_of(&applier, "applying", "other");
    let admin = store_of(&real.cluster, "applying", "other");
    let denied = loop {
        match other.put_if_absent(&key("other/a"), "x".into()).await {
            // By whom the policy lets do everything: it may take effect in between.
            Ok(version) => admin.delete(&key("other/a"), &version).await.unwrap(),
            denied => break refusal(denied),
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the policy refuses nothing");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(matches!(denied, Refusal::AdmissionDenied { verb: "create", .. }), "{denied}");
    assert!(!denied.is_authorizers_denial());

    let version = put(&store, "production/a", "body").await;
    let version =
        store.put_if_version(&key("production/a"), "more".into(), &version).await.unwrap();
    let large = noise(2 * MAX_STORED_SIZE, 9);
    let version = store.put_in_parts(&key("production/a"), large, &version).await.unwrap();
    store.delete(&key("production/a"), &version).await.unwrap();

    // The other estate's record can neither be changed nor deleted nor taken over by its label.
    let version = admin.put_if_absent(&key("other/a"), Bytes::from_static(b"x")).await.unwrap();
    let denied = [
        refusal(other.put_if_version(&key("other/a"), "y".into(), &version).await),
        refusal(other.delete(&key("other/a"), &version).await),
    ];
    for (denied, verb) in denied.into_iter().zip(["update", "delete"]) {
        assert!(
            matches!(&denied, Refusal::AdmissionDenied { verb: it, .. } if *it == verb),
            "{denied}"
        );
    }
}

/// Policies of others refuse with 422 where they say nothing else.
#[tokio::test]
#[ignore = "needs a real API server"]
async fn any_policys_refusal_is_admissions() {
    let real = RealCluster::connect().await;
    real.create_namespace("frozen").await;
    let selector = json!({ "matchLabels": { "kubernetes.io/metadata.name": "frozen" } });
    let rule = json!({ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"] });
    let objects = [
        (
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            json!({
                "failurePolicy": "Fail", "matchConstraints": { "resourceRules": [rule] },
                "validations": [{ "expression": "false", "message": "a change freeze is on" }],
            }),
        ),
        (
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            json!({
                "policyName": "freeze", "validationActions": ["Deny"],
                "matchResources": { "namespaceSelector": selector },
            }),
        ),
    ];
    for (plural, kind, spec) in objects {
        let object = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": { "name": "freeze" }, "spec": spec,
        });
        let request = Request::post(format!("/apis/admissionregistration.k8s.io/v1/{plural}"))
            .header("content-type", "application/json")
            .body(object.to_string().into_bytes())
            .unwrap();
        real.client.request::<Value>(request).await.unwrap();
    }
    let store = store_of(&real.cluster, "frozen", "prod");
    let started = std::time::Instant::now();
    let mut number = 0;
    let denied = loop {
        number += 1;
        match store.put_if_absent(&key(&format!("prod/{number}")), "x".into()).await {
            Ok(_) => {}
            denied => break refusal(denied),
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the policy refuses nothing");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(matches!(&denied, Refusal::AdmissionDenied { .. }), "{denied}");
    assert!(denied.to_string().contains("a change freeze is on"), "{denied}");
}
