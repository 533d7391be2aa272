//! docs/stores.md has every finding of a cluster and every refusal, in the code's words.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use records::contract::{Access, Finding, Setting, StoreContract};
use records::kubernetes::{
    Cluster, ClusterAccess, ClusterContract, KubernetesOptions, KubernetesStore, ListingProblem,
    MANAGED_BY, Place, Refusal,
};
use serde_json::{Value, json};

use super::contract::{PODS, install, list};
use super::managed_clusters::{Documented, EKS, EKS_KEY, EKS_URL, Unreachable};
use super::strict::{Fault, StrictServer};
use super::{key, put, store, store_of};
use crate::page::{FindingTable, says, table};

async fn of(server: &StrictServer) -> Vec<Finding> {
    ClusterContract::new(Arc::new(store(&server.cluster().await))).check(Access::Write).await
}

fn pods(command: Value) -> Value {
    let container = json!({ "name": "kube-apiserver", "command": command });
    list(vec![json!({ "metadata": { "name": "a" }, "spec": { "containers": [container] } })])
}

/// What a cluster comes to that nobody answers for.
async fn unreachable(server: &str) -> Vec<Finding> {
    let strict = StrictServer::start().await;
    let path = strict.kubeconfig();
    let content = std::fs::read_to_string(&path).unwrap();
    let start = content.find("http://").unwrap();
    let end = start + content[start..].find('\n').unwrap();
    let mut content = content;
    content.replace_range(start..end, server);
    std::fs::write(&path, content).unwrap();
    let access = ClusterAccess::Kubeconfig { path, context: None };
    let cluster = Cluster::connect(&access).await.unwrap();
    let mut options = KubernetesOptions::new("team", "prod", key("prod"));
    options.request_time_out = Duration::from_millis(100);
    let store = KubernetesStore::new(&cluster, options).unwrap();
    ClusterContract::new(Arc::new(store)).check(Access::Write).await
}

/// What a cluster comes to whose credential command answers once, with what has expired, and not again.
async fn without_credentials() -> Vec<Finding> {
    let strict = StrictServer::start().await;
    let path = strict.kubeconfig();
    let script = path.with_file_name("credentials");
    let once = path.with_file_name("once");
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": { "token": "secret-token", "expirationTimestamp": "2020-01-01T00:00:00Z" },
    });
    let once = once.display();
    std::fs::write(
        &script,
        format!("#!/bin/sh\n[ -e '{once}' ] && exit 3\ntouch '{once}'\necho '{credential}'\n"),
    )
    .unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let exec = format!(
        "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      command: {}",
        script.display()
    );
    let content = std::fs::read_to_string(&path).unwrap().replace("token: secret-token", &exec);
    std::fs::write(&path, content).unwrap();
    let access = ClusterAccess::Kubeconfig { path, context: None };
    let cluster = Cluster::connect(&access).await.unwrap();
    ClusterContract::new(Arc::new(store(&cluster))).check(Access::Write).await
}

/// What a provider's answer about its cluster comes to.
async fn managed(server: &StrictServer, provider: Documented) -> Vec<Finding> {
    ClusterContract::new(Arc::new(store(&server.cluster().await)))
        .managed_as("eks:us-west-2/devel".parse().unwrap())
        .asking(Arc::new(provider))
        .check(Access::Write)
        .await
}

#[tokio::test]
async fn every_finding_is_on_the_page_and_the_page_says_nothing_else() {
    let mut all = vec![
        unreachable("https://127.0.0.1:9\n    insecure-skip-tls-verify: true").await,
        unreachable("https://127.0.0.1:9").await,
    ];

    all.push(without_credentials().await);

    // What is found of readers, one thing after the other.
    let server = StrictServer::start().await;
    let cluster = server.cluster().await;
    all.push(of(&server).await);
    server.world.fail([Fault::RefuseWith(500)]);
    all.push(of(&server).await);
    server.world.deny("list", "all secrets");
    all.push(of(&server).await);
    put(&store_of(&cluster, "team", "test"), "test/a", "body").await;
    all.push(of(&server).await);
    server.world.allow_group("system:authenticated");
    all.push(of(&server).await);
    let denied = StrictServer::start().await;
    for resource in ["secrets", "all secrets", "validatingadmissionpolicies"] {
        for verb in ["get", "list"] {
            denied.world.deny(verb, resource);
        }
    }
    all.push(of(&denied).await);
    let ambiguous = StrictServer::start().await;
    ambiguous.world.deny("list", "all secrets");
    put(&store(&ambiguous.cluster().await), "prod/a", "body").await;
    let name = ambiguous.world.secrets("team")[0]["metadata"]["name"].as_str().unwrap().to_owned();
    ambiguous.world.edit("team", &name, |it| it["metadata"]["labels"][MANAGED_BY] = json!("Helm"));
    all.push(of(&ambiguous).await);
    // The authorizer answers nobody.
    let silent = StrictServer::start().await;
    silent.world.deny("create", "selfsubjectaccessreviews");
    install(&silent, |_, _| {});
    all.push(of(&silent).await);

    for command in
        [json!(["kube-apiserver"]), json!(["kube-apiserver", "--encryption-provider-config=/x"])]
    {
        server.world.put_object(PODS, pods(command));
        all.push(of(&server).await);
    }

    let body = |endpoint: &str, encryption: &str| {
        let body = EKS.replace("ENDPOINT", endpoint).replace("ENCRYPTION", encryption);
        body.replace("VERSION", "1.27")
    };
    let here = server.address.to_string();
    for (status, body) in [
        (200, body(&here, EKS_KEY)),
        (200, body(&here, "")),
        (200, body("https://elsewhere.example.com", EKS_KEY)),
        (404, String::new()),
        (403, String::new()),
    ] {
        all.push(managed(&server, Documented { url: EKS_URL, status, body }).await);
    }
    let nobody = ClusterContract::new(Arc::new(store(&cluster)))
        .managed_as("gke:acme/europe-west1/prod".parse().unwrap());
    all.push(nobody.check(Access::Write).await);
    let down = ClusterContract::new(Arc::new(store(&cluster)))
        .managed_as("eks:us-west-2/devel".parse().unwrap())
        .asking(Arc::new(Unreachable));
    all.push(down.check(Access::Write).await);

    install(&server, |_, _| {});
    all.push(of(&server).await);
    type Change = fn(&mut Value, &mut Value);
    let changes: [Change; 5] = [
        |policy, _| policy["spec"]["failurePolicy"] = json!("Ignore"),
        |_, binding| binding["spec"]["policyName"] = json!("another"),
        |_, binding| binding["spec"]["validationActions"] = json!(["Warn"]),
        |policy, _| {
            policy["status"]["typeChecking"]["expressionWarnings"] =
                json!([{ "fieldRef": "spec.validations[0].expression", "warning": "undeclared" }]);
        },
        |policy, _| policy["metadata"]["generation"] = json!(2),
    ];
    for change in changes {
        install(&server, change);
        all.push(of(&server).await);
    }
    server.world.deny("list", "validatingadmissionpolicybindings");
    all.push(of(&server).await);
    let useless = StrictServer::start().await;
    install(&useless, |_, _| {});
    useless.world.deny("use", "estates");
    all.push(of(&useless).await);

    let mut page = FindingTable::below("What is found of a cluster");
    for finding in all.iter().flatten() {
        page.take(finding);
    }
    page.finish();
    let found: BTreeSet<_> = all.iter().flatten().map(|finding| finding.setting).collect();
    assert_eq!(found.len(), Setting::ALL.len() - 6);
}

fn refusals() -> Vec<Refusal> {
    let place = Arc::new(Place {
        server: "https://10.0.0.1:6443".to_owned(),
        context: Some("production".to_owned()),
        namespace: "team".to_owned(),
    });
    let text = str::to_owned;
    let mut all = vec![
        Refusal::DuplicateKey {
            key: key("prod/a"),
            right: text("plumbline-1"),
            other: text("a-copy"),
            place: place.clone(),
        },
        Refusal::Misnamed {
            secret: text("renamed"),
            key: key("prod/a"),
            expected: text("plumbline-1"),
            place: place.clone(),
        },
        Refusal::ForeignEstate {
            secret: text("plumbline-1"),
            key: key("prod/a"),
            found: text("test"),
            ours: text("prod"),
            place: place.clone(),
        },
        Refusal::KeyCollision {
            secret: text("plumbline-1"),
            key: key("prod/a"),
            found: key("prod/b"),
            place: place.clone(),
        },
        Refusal::BeingDeleted {
            secret: text("plumbline-1"),
            key: key("prod/a"),
            finalizers: vec![text("example.com/keep")],
            place: place.clone(),
        },
        Refusal::NamespaceTerminating { place: place.clone() },
        Refusal::NotAuthorized {
            verb: "create",
            resource: "secrets",
            reason: text("no RBAC policy matched"),
            place: place.clone(),
        },
        Refusal::AdmissionDenied {
            verb: "create",
            answer: text("exceeded quota"),
            place: place.clone(),
        },
        Refusal::Unauthenticated {
            server: text("https://10.0.0.1:6443"),
            answer: text("Unauthorized"),
            kubectl: text("kubectl --context production"),
        },
        Refusal::EstateNotALabel { estate: text("a/b") },
        Refusal::NamespaceName { namespace: text("../kube-system") },
    ];
    all.extend([None, Some(text("Helm"))].map(|found| Refusal::Unlabelled {
        secret: text("plumbline-1"),
        label: MANAGED_BY,
        found,
        estate: text("prod"),
        place: place.clone(),
    }));
    all.extend([None, Some(text("/no/key"))].map(|found| Refusal::Unannotated {
        secret: text("plumbline-1"),
        found,
        place: place.clone(),
    }));
    all.extend([None, Some(text("plumbline-1"))].map(|secret| Refusal::KeyOutsideEstate {
        key: key("prod/a"),
        root: text("test"),
        estate: text("test"),
        secret,
    }));
    all.extend(
        [
            ListingProblem::RemainderStays { remaining: 3 },
            ListingProblem::EndsEarly { remaining: 1 },
            ListingProblem::EmptyPage,
            ListingProblem::SameToken,
            ListingProblem::VersionMoves,
            ListingProblem::AlwaysGone { starts: 5 },
        ]
        .map(|problem| Refusal::ListingWithoutEnd { problem, place: place.clone() }),
    );
    all
}

#[test]
fn every_refusal_is_on_the_page_and_the_page_says_nothing_else() {
    let rows = table("What is refused");
    let mut seen = vec![false; rows.len()];
    for refusal in refusals() {
        let said = refusal.to_string();
        let row = rows.iter().position(|row| says(&row[1].replace('`', ""), &said));
        seen[row.unwrap_or_else(|| panic!("docs/stores.md does not say: {said}"))] = true;
    }
    let unseen: Vec<_> = rows.iter().zip(seen).filter(|(_, seen)| !seen).collect();
    assert!(unseen.is_empty(), "docs/stores.md says what nothing comes to: {unseen:#?}");
}
