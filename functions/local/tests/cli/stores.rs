//! Stores of clouds, on servers of the tests: their contract, and estates that move between them.

use crate::scene::{Scene, flat};
use serde_json::Value;
use test_servers::{Answer, BucketServer, ClusterServer};

const MAIN: &str = r#"
resource "terraform_data" "a" {
  count = 12
  input = "kept-${count.index}"
}
output "a" {
  value = terraform_data.a[3].output
}
"#;

const ESTATE: &str = "\n[estates.production]\ndirectory = \".\"\n";

fn bucket(server: &BucketServer, more: &str) -> String {
    format!(
        "[store.s3]\nbucket = \"{}\"\nbucket_owner = \"{}\"\nregion = \"us-east-1\"\nendpoint = \"{}\"\n\
         path_style = true\n{more}\n{ESTATE}",
        BucketServer::BUCKET,
        BucketServer::OWNER,
        server.endpoint()
    )
}

fn cluster(server: &ClusterServer) -> String {
    format!(
        "[store.kubernetes]\nnamespace = \"team\"\nkubeconfig = {:?}\nallow_insecure = [\"tls_verification\"]\n\
         [artifacts.dir]\npath = \"artifacts\"\n{ESTATE}",
        server.kubeconfig()
    )
}

fn scene(project: &str) -> Scene {
    Scene::new(&[("main.tf", MAIN), ("plumb.toml", project)])
}

#[track_caller]
fn outcomes(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| (text(&finding["setting"]), text(&finding["outcome"]))).collect()
}

#[test]
fn a_contract_is_checked_for_people_and_for_programs() {
    let server = BucketServer::start();
    let scene = scene(&bucket(&server, ""));
    let checked = scene.succeed(&["contract", "check"]);
    assert!(checked.stdout.contains("The store keeps its contract."), "{}", checked.stdout);
    let report = scene.succeed(&["contract", "check", "-json"]).json();
    assert_eq!((&report["clean"], &report["refused"]), (&Value::from(true), &Value::from(false)));
    let settings = [
        "versioning",
        "lifecycle",
        "public_access_block",
        "encryption_key",
        "tls_only",
        "conditional_writes",
    ];
    let passed = settings.map(|name| (name.to_owned(), "passed".to_owned()));
    assert_eq!(outcomes(&report), passed);

    // What proceeds with a line in a run is a failure here.
    server.unset("policy");
    let warned = scene.run(&["contract", "check"]);
    assert_eq!(warned.code, 1, "{}", warned.stdout);
    assert!(warned.stdout.contains("Runs proceed, with a line"), "{}", warned.stdout);
    server.unset("versioning");
    let refused = scene.run(&["contract", "check", "-json"]);
    assert_eq!(refused.code, 1);
    assert_eq!(refused.json()["refused"], true);
    let settings = outcomes(&refused.json());
    let expected = ["failed", "passed", "passed", "passed", "warned", "warned"];
    assert_eq!(settings.iter().map(|(_, outcome)| outcome.as_str()).collect::<Vec<_>>(), expected);
}

#[test]
fn a_run_refuses_a_store_with_all_its_findings_and_leaves_nothing_there() {
    let server = BucketServer::start();
    server.unset("versioning");
    server.unset("publicAccessBlock");
    let scene = scene(&bucket(&server, ""));
    let refused = scene.run(&["apply", "-auto-approve"]);
    assert_eq!(refused.code, 1, "{}\n{}", refused.stdout, refused.stderr);
    let said = flat(&refused.stderr);
    for words in [
        "The store of records is refused",
        "versioning: Versioning of the bucket records was never enabled.",
        "aws s3api put-bucket-versioning --bucket records",
        "public_access_block: The bucket records has no public access block.",
        "aws s3api put-public-access-block --bucket records",
        "Mend both, or accept by name what you can live with: allow_insecure = [\"versioning\", \
         \"public_access_block\"].",
    ] {
        assert!(said.contains(words), "{words:?} is missing in {}", refused.stderr);
    }
    assert!(!said.contains("lifecycle:"), "{}", refused.stderr);
    let left: Vec<String> =
        server.keys().into_iter().filter(|key| !key.contains("~probe/")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_contract_that_is_broken_later_stops_the_next_apply_and_no_plan() {
    let server = BucketServer::start();
    let scene = scene(&bucket(&server, ""));
    scene.succeed(&["apply", "-auto-approve"]);
    server.unset("versioning");
    scene.write("main.tf", MAIN.replace("kept", "changed").as_bytes());
    assert_eq!(scene.run(&["plan", "-out=plan.bin", "-detailed-exitcode"]).code, 2);
    for apply in [&["apply", "-auto-approve"][..], &["apply", "plan.bin"]] {
        let refused = scene.run(apply);
        assert_eq!(refused.code, 1, "{}\n{}", refused.stdout, refused.stderr);
        let said = flat(&refused.stderr);
        assert!(said.contains("versioning: Versioning of the bucket records was never"), "{said}");
    }
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "kept-3");
}

#[test]
fn a_waiver_costs_a_line_in_every_run() {
    let server = BucketServer::start();
    server.unset("versioning");
    let scene = scene(&bucket(&server, "allow_insecure = [\"versioning\"]"));
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["plan"]] {
        let ran = scene.succeed(arguments);
        let said = flat(&(ran.stdout + &ran.stderr));
        assert!(said.contains("allow_insecure waives versioning"), "{arguments:?}: {said}");
    }
    // It proceeds, and does not pass.
    assert_eq!(scene.run(&["contract", "check"]).code, 1);
    scene.write("plumb.toml", bucket(&server, "allow_insecure = [\"estate_boundary\"]").as_bytes());
    scene.run(&["plan"]).assert_refused("a setting of kubernetes stores");
}

#[test]
fn what_a_store_is_named_wrongly_by_is_refused_before_anything_is_asked() {
    let server = ClusterServer::start();
    let alone = cluster(&server).replace("[artifacts.dir]\npath = \"artifacts\"\n", "");
    scene(&alone).run(&["plan"]).assert_refused("add a table [artifacts.s3] or [artifacts.dir]");
    let namespace = "namespace = \"team\"\n";
    let managed = format!("{namespace}managed_cluster = \"production\"\n");
    let unknown = cluster(&server).replace(namespace, &managed);
    scene(&unknown)
        .run(&["plan"])
        .assert_refused("names no managed cluster; write eks:REGION/CLUSTER");
    let elsewhere = cluster(&server).replace(namespace, "namespace = \"Team\"\n");
    scene(&elsewhere).run(&["plan"]).assert_refused("cannot be a namespace");
    assert!(server.world.take_log().is_empty());
}

#[test]
fn an_estate_moves_from_a_directory_to_a_bucket_and_to_a_cluster() {
    let (bucket_server, cluster_server) = (BucketServer::start(), ClusterServer::start());
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);

    scene.write("plumb.toml", bucket(&bucket_server, "").as_bytes());
    let moved = scene.succeed(&["migrate-store", "-from=.plumb"]);
    assert!(moved.stdout.contains("Copied and verified"), "{}", moved.stdout);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "kept-3");
    let unchanged = scene.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(unchanged.code, 0, "{}\n{}", unchanged.stdout, unchanged.stderr);

    scene.write("bucket.toml", bucket(&bucket_server, "").as_bytes());
    scene.write("plumb.toml", cluster(&cluster_server).as_bytes());
    scene.succeed(&["migrate-store", "-from=bucket.toml"]);
    let unchanged = scene.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(unchanged.code, 0, "{}\n{}", unchanged.stdout, unchanged.stderr);
    // The run of the first store is still told of, and is beside the records.
    let runs = scene.succeed(&["runs", "list"]);
    assert!(runs.stdout.contains("12"), "{}", runs.stdout);
    let secrets = cluster_server.world.secrets("team");
    let is_journal = |secret: &&Value| {
        let key = &secret["metadata"]["annotations"]["plumbline.dev/key"];
        key.as_str().is_some_and(|key| key.contains("/j/"))
    };
    assert!(!secrets.is_empty() && secrets.iter().find(is_journal).is_none());

    scene.write("plumb.toml", bucket(&bucket_server, "").as_bytes());
    scene.run(&["plan"]).assert_refused("sealed");
}

#[test]
fn a_store_that_is_named_without_a_migration_is_not_taken_for_an_empty_one() {
    let server = BucketServer::start();
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("plumb.toml", bucket(&server, "").as_bytes());
    for arguments in [&["plan"][..], &["apply", "-auto-approve"]] {
        scene.run(arguments).assert_refused("plumb migrate-store -from=.plumb");
    }
    let warned = scene.succeed(&["init"]);
    assert!(flat(&(warned.stdout + &warned.stderr)).contains("plumb migrate-store -from=.plumb"));
    assert!(!server.keys().iter().any(|key| key.ends_with("/estate")), "{:?}", server.keys());
    scene.succeed(&["plan", "-new-estate"]);
}

#[test]
fn a_migration_that_was_killed_goes_on() {
    let server = BucketServer::start();
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("plumb.toml", bucket(&server, "").as_bytes());
    for last in [1, 2, 5, 9, 14] {
        let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", &*last.to_string())];
        let killed = scene.run_with(&["migrate-store", "-from=.plumb"], &kill, "");
        assert_eq!(killed.code, -1, "{last}: {}\n{}", killed.stdout, killed.stderr);
        // Neither place is in use meanwhile, and nothing looks like an estate that is new.
        scene.run(&["plan"]).assert_refused("plumb migrate-store");
    }
    scene.succeed(&["migrate-store", "-from=.plumb"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "kept-3");
}

#[test]
fn a_bucket_that_asks_for_patience_gets_it_and_one_that_never_stops_is_told_of() {
    let server = BucketServer::start();
    let scene = scene(&bucket(&server, ""));
    scene.succeed(&["apply", "-auto-approve"]);
    server.intercept(|request| (request.number % 4 == 0).then(Answer::slow_down));
    let planned = scene.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(planned.code, 0, "{}\n{}", planned.stdout, planned.stderr);
    server.intercept(|request| request.is_list().then(Answer::slow_down));
    let refused = scene.run(&["plan"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(flat(&refused.stderr).contains("too many requests"), "{}", refused.stderr);
    server.pass_all();
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn another_server_is_probed_however_it_is_named() {
    for variable in ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] {
        let server = BucketServer::start();
        let named = format!("endpoint = {:?}\n", server.endpoint());
        let scene = scene(&bucket(&server, "").replace(&named, ""));
        let elsewhere = [(variable, &*server.endpoint())];
        let applied = scene.run_with(&["apply", "-auto-approve"], &elsewhere, "");
        assert_eq!(applied.code, 0, "{}\n{}", applied.stdout, applied.stderr);
        let probed = server.keys().iter().any(|key| key.ends_with("~probe/passed"));
        assert!(probed, "{variable}: {:?}", server.keys());
    }
}
