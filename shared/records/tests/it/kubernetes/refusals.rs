//! Everything in a namespace that would make records ambiguous, or lose them.

use records::kubernetes::{ESTATE, KEY, KubernetesOptions, KubernetesStore, MANAGED_BY, Refusal};
use records::{RecordStore, StoreError, Version};
use serde_json::json;

use super::strict::{Phase, StrictServer};
use super::{key, put, refusal, store, store_of};

/// The name of the only Secret.
fn only(server: &StrictServer) -> String {
    let secrets = server.world.secrets("team");
    assert_eq!(secrets.len(), 1);
    secrets[0]["metadata"]["name"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_mends(refusal: &Refusal, command: &str) {
    assert!(refusal.to_string().contains(command), "{refusal}\nlacks {command:?}");
}

#[tokio::test]
async fn records_look_as_documented() {
    let server = StrictServer::start().await;
    put(&store(&server.cluster().await), "prod/r/i/caf\u{e9}", "body").await;
    let secret = &server.world.secrets("team")[0];
    assert_eq!(secret["metadata"]["labels"], json!({ MANAGED_BY: "plumbline", ESTATE: "prod" }));
    assert_eq!(secret["metadata"]["annotations"], json!({ KEY: "prod/r/i/caf\u{e9}" }));
    assert_eq!(secret["type"], "plumbline.dev/record");
    assert_eq!(secret["data"], json!({ "body": "Ym9keQ==" }));
}

#[tokio::test]
async fn a_second_copy_of_a_key_is_refused() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    put(&store, "prod/a", "body").await;
    let right = only(&server);
    let copy = server.world.secrets("team").remove(0);
    for name in ["a-copy", "z-copy"] {
        server.world.plant("team", name, copy.clone());
        let found = refusal(store.list("").await);
        assert!(
            matches!(&found, Refusal::DuplicateKey { right: it, .. } if *it == right),
            "{found}"
        );
        assert_mends(&found, &format!("kubectl --context strict -n team delete secret {name}"));
        server.world.edit("team", name, |it| *it = json!({ "metadata": { "name": name } }));
    }
    assert_eq!(store.list("").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_record_under_another_name_is_refused() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    put(&store, "prod/a", "body").await;
    server.world.edit("team", &only(&server), |it| it["metadata"]["name"] = json!("renamed"));
    let found = refusal(store.list("").await);
    assert!(matches!(&found, Refusal::Misnamed { secret, .. } if secret == "renamed"), "{found}");
    assert_mends(&found, "-n team delete secret renamed");
}

#[tokio::test]
async fn estates_share_a_namespace_and_each_sees_its_own() {
    let server = StrictServer::start().await;
    let cluster = server.cluster().await;
    let (prod, test) = (store_of(&cluster, "team", "prod"), store_of(&cluster, "team", "test"));
    put(&prod, "prod/a", "body").await;
    put(&test, "test/a", "body").await;
    server.world.plant("team", "somebody-elses", json!({ "metadata": {}, "type": "Opaque" }));
    assert_eq!(prod.list("").await.unwrap().len(), 1);
    assert_eq!(test.list("").await.unwrap().len(), 1);
    let outside = refusal(test.get(&key("prod/a")).await);
    assert!(matches!(outside, Refusal::KeyOutsideEstate { .. }), "{outside}");
    let outside = refusal(test.put_if_absent(&key("production/a"), "x".into()).await);
    assert!(matches!(outside, Refusal::KeyOutsideEstate { .. }), "{outside}");
}

#[tokio::test]
async fn a_key_of_ours_under_a_foreign_label_is_refused_by_every_read_and_write() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let version = put(&store, "prod/a", "body").await;
    server.world.edit("team", &only(&server), |secret| {
        secret["metadata"]["labels"][ESTATE] = json!("test");
    });
    let found = [
        refusal(store.list("").await),
        refusal(store.get(&key("prod/a")).await),
        refusal(store.put_if_version(&key("prod/a"), "x".into(), &version).await),
        refusal(store.put_if_absent(&key("prod/a"), "x".into()).await),
        refusal(store.delete(&key("prod/a"), &version).await),
    ];
    for found in found {
        assert!(
            matches!(&found, Refusal::ForeignEstate { found, .. } if found == "test"),
            "{found}"
        );
        assert_mends(&found, "label --overwrite secret plumbline-");
    }
    // The other estate finds a key of ours under its own label.
    let other = refusal(store_of(&server.cluster().await, "team", "test").list("").await);
    assert!(matches!(&other, Refusal::KeyOutsideEstate { secret: Some(_), .. }), "{other}");
}

#[tokio::test]
async fn labels_are_never_mended_silently() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let version = put(&store, "prod/a", "body").await;
    let name = only(&server);
    for label in [ESTATE, MANAGED_BY] {
        let change = |secret: &mut serde_json::Value| {
            let labels = secret["metadata"]["labels"].as_object_mut().unwrap();
            labels.remove(label);
        };
        let before = server.world.secrets("team").remove(0);
        server.world.edit("team", &name, change);
        let found = [
            refusal(store.list("").await),
            refusal(store.get(&key("prod/a")).await),
            refusal(store.put_if_version(&key("prod/a"), "x".into(), &version).await),
        ];
        for found in found {
            assert!(
                matches!(&found, Refusal::Unlabelled { label: it, .. } if *it == label),
                "{found}"
            );
            assert_mends(&found, "plumbline.dev/estate=prod");
        }
        server.world.edit("team", &name, |secret| secret["metadata"] = before["metadata"].clone());
    }
    server.world.edit("team", &name, |it| it["metadata"]["labels"][MANAGED_BY] = json!("Helm"));
    let found = refusal(store.list("").await);
    assert!(found.to_string().contains("is \"Helm\""), "{found}");
}

#[tokio::test]
async fn a_record_that_does_not_say_its_key_is_refused() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    put(&store, "prod/a", "body").await;
    let name = only(&server);
    for annotations in [json!({}), json!({ KEY: "/no/key" })] {
        server.world.edit("team", &name, |it| it["metadata"]["annotations"] = annotations);
        for found in [refusal(store.list("").await), refusal(store.get(&key("prod/a")).await)] {
            assert!(matches!(found, Refusal::Unannotated { .. }), "{found}");
            assert_mends(&found, "annotate --overwrite secret");
        }
    }
}

#[tokio::test]
async fn a_name_that_holds_another_key_is_refused() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    put(&store, "prod/a", "body").await;
    server
        .world
        .edit("team", &only(&server), |it| it["metadata"]["annotations"][KEY] = json!("prod/b"));
    let found = refusal(store.get(&key("prod/a")).await);
    assert!(
        matches!(&found, Refusal::KeyCollision { found, .. } if *found == key("prod/b")),
        "{found}"
    );
    assert_mends(&found, "plumbline.dev/key=prod/a");
    assert!(matches!(refusal(store.list("").await), Refusal::Misnamed { .. }));
}

#[tokio::test]
async fn what_finalizers_keep_is_not_taken_for_a_record() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    put(&store, "prod/a", "body").await;
    let name = only(&server);
    server
        .world
        .edit("team", &name, |it| it["metadata"]["finalizers"] = json!(["example.com/keep"]));
    let version = store.get(&key("prod/a")).await.unwrap().unwrap().version;
    let found = refusal(store.delete(&key("prod/a"), &version).await);
    assert!(matches!(&found, Refusal::BeingDeleted { .. }), "{found}");
    assert_mends(&found, "-p '{\"metadata\":{\"finalizers\":null}}'");
    for found in [refusal(store.get(&key("prod/a")).await), refusal(store.list("").await)] {
        assert!(
            matches!(&found, Refusal::BeingDeleted { finalizers, .. } if finalizers.len() == 1)
        );
    }
}

#[tokio::test]
async fn a_missing_namespace_is_never_absence() {
    let server = StrictServer::start().await;
    let store = store_of(&server.cluster().await, "nowhere", "prod");
    let errors = [
        store.get(&key("prod/a")).await.map(drop).unwrap_err(),
        store.list("").await.map(drop).unwrap_err(),
        store.put_if_absent(&key("prod/a"), "x".into()).await.map(drop).unwrap_err(),
        store.delete(&key("prod/a"), &Version::absent()).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::RootMissing { .. }), "{error}");
        assert!(error.to_string().contains("kubectl --context strict create namespace nowhere"));
    }
}

#[tokio::test]
async fn a_namespace_that_is_going_is_refused() {
    let server = StrictServer::start().await;
    server.world.put_namespace("going", Phase::Terminating);
    let store = store_of(&server.cluster().await, "going", "prod");
    let found = [
        refusal(store.get(&key("prod/a")).await),
        refusal(store.list("").await),
        refusal(store.put_if_absent(&key("prod/a"), "x".into()).await),
    ];
    for found in found {
        assert!(matches!(found, Refusal::NamespaceTerminating { .. }), "{found}");
    }
}

#[tokio::test]
async fn a_namespace_is_looked_at_once_and_not_at_all_where_it_is_used() {
    let server = StrictServer::start().await;
    let cluster = server.cluster().await;
    let probes = || {
        let log = server.world.take_log();
        log.iter().filter(|asked| *asked == "GET /api/v1/namespaces/team").count()
    };
    let fresh = store(&cluster);
    for _ in 0..3 {
        assert!(fresh.get(&key("prod/a")).await.unwrap().is_none());
        assert!(fresh.list("").await.unwrap().is_empty());
    }
    assert_eq!(probes(), 1);
    put(&fresh, "prod/a", "body").await;
    let used = store(&cluster);
    used.list("").await.unwrap();
    assert!(used.get(&key("prod/b")).await.unwrap().is_none());
    assert_eq!(probes(), 0);
    // Who may only read Secrets cannot look at it, and plans all the same.
    server.world.deny("get", "namespaces");
    assert!(store(&cluster).get(&key("prod/b")).await.unwrap().is_none());
}

#[tokio::test]
async fn the_authorizers_denial_is_told_from_admissions() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let version = put(&store, "prod/a", "body").await;
    server.world.refuse_by_admission("exceeded quota: records, requested: count/secrets=1");
    let refused = [
        refusal(store.put_if_absent(&key("prod/b"), "x".into()).await),
        refusal(store.put_if_version(&key("prod/a"), "x".into(), &version).await),
        refusal(store.delete(&key("prod/a"), &version).await),
    ];
    for (found, verb) in refused.into_iter().zip(["create", "update", "delete"]) {
        assert!(
            matches!(&found, Refusal::AdmissionDenied { verb: it, .. } if *it == verb),
            "{found}"
        );
        assert!(!found.is_authorizers_denial());
        assert!(found.to_string().contains("exceeded quota"), "{found}");
    }
    for verb in ["create", "update", "delete"] {
        server.world.deny(verb, "secrets");
    }
    let refused = [
        refusal(store.put_if_absent(&key("prod/b"), "x".into()).await),
        refusal(store.put_if_version(&key("prod/a"), "x".into(), &version).await),
        refusal(store.delete(&key("prod/a"), &version).await),
    ];
    for (found, verb) in refused.into_iter().zip(["create", "update", "delete"]) {
        assert!(
            matches!(&found, Refusal::NotAuthorized { verb: it, .. } if *it == verb),
            "{found}"
        );
        assert!(found.is_authorizers_denial());
    }
    // A read-only planner reads on.
    assert_eq!(store.list("").await.unwrap().len(), 1);
    server.world.deny("list", "secrets");
    assert!(refusal(store.list("").await).is_authorizers_denial());
}

#[tokio::test]
async fn credentials_that_are_not_accepted_are_named() {
    let server = StrictServer::start().await;
    let path = server.kubeconfig();
    let content = std::fs::read_to_string(&path).unwrap().replace("secret-token", "expired-token");
    std::fs::write(&path, content).unwrap();
    let access = records::kubernetes::ClusterAccess::Kubeconfig { path, context: None };
    let cluster = records::kubernetes::Cluster::connect(&access).await.unwrap();
    let found = refusal(store(&cluster).get(&key("prod/a")).await);
    assert!(matches!(found, Refusal::Unauthenticated { .. }), "{found}");
    assert_mends(&found, "kubectl --context strict auth whoami");
}

/// What a credential command prints may be the credentials.
#[tokio::test]
async fn a_credential_commands_output_is_never_told() {
    let server = StrictServer::start().await;
    let path = server.kubeconfig();
    let exec = "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      \
                command: sh\n      args: [-c, \"echo hidden; exit 3\"]";
    let content = std::fs::read_to_string(&path).unwrap().replace("token: secret-token", exec);
    std::fs::write(&path, content).unwrap();
    let access = records::kubernetes::ClusterAccess::Kubeconfig { path, context: None };
    let told = match records::kubernetes::Cluster::connect(&access).await {
        Ok(cluster) => refusal(store(&cluster).get(&key("prod/a")).await).to_string(),
        Err(error) => error.to_string(),
    };
    assert!(told.contains("ended with exit status: 3"), "{told}");
    assert!(!told.contains("hidden"), "{told}");
}

#[tokio::test]
async fn names_that_cannot_be_kept_are_refused_at_the_start() {
    let server = StrictServer::start().await;
    let cluster = server.cluster().await;
    let open = |namespace: &str, estate: &str| {
        KubernetesStore::new(&cluster, KubernetesOptions::new(namespace, estate, key("prod")))
            .unwrap_err()
    };
    assert!(matches!(open("team", "a/b"), Refusal::EstateNotALabel { .. }));
    assert!(matches!(open("../kube-system", "prod"), Refusal::NamespaceName { .. }));
}
