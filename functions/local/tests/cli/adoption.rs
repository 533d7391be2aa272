//! What the records leave open, and what a person decides about it.

use crate::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

const TWO: &str = r#"
resource "terraform_data" "first" {
  input = "one"
}
resource "terraform_data" "second" {
  input = "two"
}
output "first" {
  value = terraform_data.first.output
}
"#;

/// The folder of the estate's records.
fn records(scene: &Scene) -> PathBuf {
    scene.path().join(".plumb/records/default")
}

fn record(scene: &Scene, address: &str) -> (PathBuf, Value) {
    let path = records(scene).join("r/i").join(address.replace('_', "_5f") + ".record");
    let body = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    (path, body)
}

/// What a run leaves whose result found its record changed by another.
fn leave_stray(scene: &Scene, address: &str, run: &str, output: &str) {
    let (_, mut body) = record(scene, address);
    body["object"]["values"]["output"] = json!({ "value": output, "type": "string" });
    body["write_id"] = run.into();
    body["written_by"] = json!({ "transaction": "p", "run": run, "principal": "somebody" });
    let folder = records(scene).join("r/s").join(address.replace('_', "_5f"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{run}.record")), body.to_string()).unwrap();
}

/// What a takeover leaves of a create that nobody can identify.
fn leave_doubt(scene: &Scene, address: &str) {
    leave_doubt_since(scene, address, 1);
}

fn leave_doubt_since(scene: &Scene, address: &str, since: u64) {
    let (path, mut body) = record(scene, address);
    let fields = body.as_object_mut().unwrap();
    fields.remove("object");
    fields.insert("kind".into(), "shell".into());
    fields.insert("revision".into(), "".into());
    fields
        .insert("doubt".into(), json!({ "transaction": "p", "object": "current", "since": since }));
    std::fs::write(path, body.to_string()).unwrap();
}

fn output(scene: &Scene) -> String {
    let (_, body) = record(scene, "terraform_data.first");
    body["object"]["values"]["output"]["value"].as_str().unwrap_or_default().to_owned()
}

fn applied() -> Scene {
    let scene = Scene::new(&[("main.tf", TWO)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene
}

fn changes(ran: &Ran) -> Vec<String> {
    let runs = ran.json()["runs"].as_array().unwrap().clone();
    let decided = runs.iter().filter(|run| run["state"] == "decided");
    decided.map(|run| run["decision"].to_string()).collect()
}

#[test]
fn a_stray_becomes_the_record_and_the_journal_says_who_decided() {
    let scene = applied();
    leave_stray(&scene, "terraform_data.first", "r1", "stray");
    let adopted = scene.succeed(&["adopt", "terraform_data.first"]);
    assert!(adopted.stdout.contains("Adopted terraform_data.first. It replaces what the run"));
    assert_eq!(output(&scene), "stray");
    assert!(!records(&scene).join("r/s/terraform_5fdata.first/r1.record").exists());
    let listed = scene.succeed(&["runs", "list", "-json"]);
    assert_eq!(changes(&listed), [r#"{"adopt_stray":"r1"}"#]);
    scene
        .run(&["adopt", "terraform_data.first"])
        .assert_refused("about terraform_data.first is open");
}

#[test]
fn a_plan_from_before_an_adoption_is_stale() {
    let scene = applied();
    scene.write("main.tf", TWO.replace("\"one\"", "\"changed\"").as_bytes());
    scene.succeed(&["plan", "-out=plan.bin"]);
    leave_stray(&scene, "terraform_data.first", "r1", "stray");
    scene.succeed(&["adopt", "terraform_data.first"]);
    let refused = scene.run(&["apply", "plan.bin"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(refused.stderr.contains("terraform_data.first"), "{}", refused.stderr);
}

#[test]
fn of_several_strays_one_has_to_be_named() {
    let scene = applied();
    leave_stray(&scene, "terraform_data.first", "r1", "stray");
    leave_stray(&scene, "terraform_data.first", "r2", "other");
    scene.run(&["adopt", "terraform_data.first"]).assert_refused("of these runs: r1, r2");
    scene.run(&["adopt", "terraform_data.first", "-run=r3"]).assert_refused("result of the run r3");
    scene.succeed(&["adopt", "terraform_data.first", "-run=r2"]);
    assert_eq!(output(&scene), "other");
    scene.succeed(&["dismiss", "terraform_data.first"]);
    let plan = scene.run(&["plan", "-detailed-exitcode"]);
    assert!(!plan.stdout.contains("Result kept beside"), "{}", plan.stdout);
}

#[test]
fn a_dismissed_stray_leaves_the_record_alone() {
    let scene = applied();
    leave_stray(&scene, "terraform_data.first", "r1", "stray");
    scene.succeed(&["dismiss", "terraform_data.first"]);
    assert_eq!(output(&scene), "one");
    let listed = scene.succeed(&["runs", "list", "-json"]);
    assert_eq!(changes(&listed), [r#"{"dismiss_stray":"r1"}"#]);
    scene.run(&["dismiss", "terraform_data.first"]).assert_refused("is open");
}

#[test]
fn a_doubt_is_settled_by_an_object_that_exists() {
    let scene = applied();
    leave_doubt(&scene, "terraform_data.second");
    scene.run(&["adopt", "terraform_data.second"]).assert_refused("which object it made");
    scene.run(&["adopt", "terraform_data.first", "x"]).assert_refused("is open");
    scene.succeed(&["adopt", "terraform_data.second", "made-by-hand"]);
    let (_, body) = record(&scene, "terraform_data.second");
    assert_eq!(body["object"]["values"]["id"], "made-by-hand");
    assert_eq!((&body["kind"], body.get("doubt")), (&json!("live"), None));
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn a_doubt_that_came_to_nothing_is_dismissed() {
    let scene = applied();
    leave_doubt(&scene, "terraform_data.second");
    let refused = scene.run(&["apply", "-auto-approve"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    scene.succeed(&["dismiss", "terraform_data.second"]);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn a_doubt_is_not_dismissed_while_its_create_may_still_come_to_pass() {
    let scene = applied();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    leave_doubt_since(&scene, "terraform_data.second", now);
    let dismiss = ["dismiss", "terraform_data.second"];
    let refused = scene.run_with(&dismiss, &[("PLUMB__TRANSACTIONS__MARGIN", "10m")], "");
    refused.assert_refused("may still make its object until 20");
    refused.assert_refused("run `plumb dismiss 'terraform_data.second'` again");
    let over =
        [("PLUMB__TRANSACTIONS__MARGIN", "0s"), ("PLUMB__TRANSACTIONS__SKEW", "0s")].as_slice();
    let dismissed = scene.run_with(&dismiss, over, "");
    assert_eq!(dismissed.code, 0, "{}", dismissed.stderr);
}

#[test]
fn a_result_that_the_store_had_not_taken_is_recorded_from_its_file() {
    let scene = applied();
    let (path, body) = record(&scene, "terraform_data.first");
    scene.write("kept.json", body.to_string().as_bytes());
    std::fs::remove_file(path).unwrap();
    scene
        .run(&["adopt", "terraform_data.second", "-from=kept.json"])
        .assert_refused("belongs to terraform_data.first");
    scene.write("other.json", b"{}");
    scene
        .run(&["adopt", "terraform_data.first", "-from=other.json"])
        .assert_refused("is not what a run keeps");
    scene.succeed(&["adopt", "terraform_data.first", "-from=kept.json"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}
