//! The policy that `plumb.toml` has for an estate.

use crate::scene::{Ran, Scene};
use serde_json::Value;

const CONFIGURATION: &str = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";

/// A policy that objects for as long as there is no file `agreed`.
const SCRIPT: &str =
    "cat >seen; [ -e agreed ] && exit 0; echo 'terraform_data.a has no owner'; exit 1\n";

fn scene(more: &str) -> Scene {
    let plumb = format!(
        "[estates.network]\ndirectory = \"network\"\n[estates.network.policy]\ncommand = [\"sh\", \"policies/check.sh\"]\n{more}"
    );
    let files = [
        ("plumb.toml", &*plumb),
        ("policies/check.sh", SCRIPT),
        ("network/main.tf", CONFIGURATION),
    ];
    Scene::new(&files)
}

fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    let arguments = [&["-chdir=network"][..], arguments].concat();
    scene.run_with(&arguments, &[("PATH", "/usr/bin:/bin")], "")
}

#[test]
fn a_mandatory_policy_keeps_a_plan_from_being_saved_and_applied() {
    let scene = scene("");
    let ran = run(&scene, &["plan", "-out=p"]);
    ran.assert_refused("The plan is rejected by the stage policy");
    assert!(ran.stderr.contains("terraform_data.a has no owner"), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 to add"), "the plan is shown all the same: {}", ran.stdout);
    assert!(!scene.path().join("network/p").exists());
    let plan: Value = serde_json::from_slice(&scene.read("seen")).unwrap();
    assert_eq!(plan["resource_changes"][0]["address"], "terraform_data.a");
    assert_eq!(run(&scene, &["plan", "-verdict-exitcode"]).code, 9);
    run(&scene, &["apply", "-auto-approve"]).assert_refused("stage policy");
    assert_eq!(run(&scene, &["state", "list"]).stdout, "");

    let ran = run(&scene, &["plan", "-json"]);
    let messages = ran.messages();
    let said = messages.iter().find(|message| message["type"] == "plan_verdicts").unwrap();
    assert_eq!((&said["code"], &said["@level"]), (&"policy".into(), &"error".into()));
    let verdict = &said["verdicts"]["verdicts"][0];
    assert_eq!((&verdict["stage"], &verdict["outcome"]), (&"policy".into(), &"reject".into()));

    scene.write("agreed", b"");
    let ran = run(&scene, &["plan", "-out=p"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("policy: pass"), "{}", ran.stdout);
    let ran = run(&scene, &["validate", "-plan=p"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stdout.contains("policy"), "{}", ran.stdout);

    // The policy as it is by then.
    std::fs::remove_file(scene.path().join("agreed")).unwrap();
    let ran = run(&scene, &["validate", "-plan=p", "-json", "-verdict-exitcode"]);
    assert_eq!((ran.code, &ran.json()["code"]), (9, &"policy".into()), "{}", ran.stdout);
    assert_eq!(run(&scene, &["apply", "p"]).code, 0, "what was let through is applied");
    // Nothing changes any more, so that there is nothing to look at.
    assert_eq!(run(&scene, &["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn nobody_is_asked_about_a_plan_that_only_refreshes() {
    let scene = scene("");
    let outputs = |value: &str| format!("output \"a\" {{\n  value = \"{value}\"\n}}\n");
    scene.write("network/main.tf", outputs("before").as_bytes());
    scene.write("agreed", b"");
    assert_eq!(run(&scene, &["apply", "-auto-approve"]).code, 0);
    std::fs::remove_file(scene.path().join("agreed")).unwrap();
    scene.write("network/main.tf", outputs("after").as_bytes());
    let ran = run(&scene, &["plan", "-refresh-only", "-detailed-exitcode", "-out=p"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    let ran = run(&scene, &["validate", "-plan=p"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_advisory_policy_warns() {
    let scene = scene("enforcement = \"advisory\"\n");
    let ran = run(&scene, &["plan", "-out=p"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("The policy objects"), "{}", ran.stdout);
    assert!(scene.path().join("network/p").exists());
    let messages = run(&scene, &["plan", "-json"]).messages();
    let said = messages.iter().find(|message| message["type"] == "plan_verdicts").unwrap();
    assert_eq!(said["verdicts"]["result"], "warn");
}

#[test]
fn what_plumb_toml_may_not_say_of_a_policy_is_refused() {
    for (more, says) in [
        ("mandatory = true\n", "unknown field `mandatory`"),
        ("enforcement = \"soft\"\n", "unknown variant `soft`"),
        ("time_out = \"1h\"\n", "300s at most"),
        ("opa = { program = \"opa\", bundle = \"policies\" }\n", "either command"),
    ] {
        run(&scene(more), &["plan"]).assert_refused(says);
    }
}
