//! The state of Terraform, taken over and given back. The file is what Terraform 1.11 left of the configuration.

use crate::scene::Scene;
use serde_json::Value;

const MAIN: &str = include_str!("migrate/main.tf");
const MODULE: &str = include_str!("migrate/module.tf");
const OTHER: &str = include_str!("migrate/other.tfstate");
const STATE: &str = include_str!("migrate/terraform.tfstate");

fn scene(state: &str) -> Scene {
    Scene::new(&[
        ("main.tf", MAIN),
        ("m/main.tf", MODULE),
        ("o.tfstate", OTHER),
        ("terraform.tfstate", state),
    ])
}

#[test]
fn a_state_is_taken_over_and_comes_back_as_it_was() {
    let scene = scene(STATE);
    scene.succeed(&["init"]);
    scene.run(&["plan"]).assert_refused("plumb migrate");
    let taken = scene.succeed(&["migrate"]);
    assert!(taken.stdout.contains("Took over terraform.tfstate: 9 records"), "{}", taken.stdout);
    // All but what is derived.
    let mut kept: Value = serde_json::from_str(STATE).unwrap();
    kept["check_results"] = Value::Null;
    assert_eq!(scene.succeed(&["state", "pull"]).json(), kept);
    // The one that is tainted is replaced, and nothing else.
    let plan = scene.run(&["plan", "-detailed-exitcode"]);
    assert!(plan.stdout.contains("Plan: 1 to add, 0 to change, 1 to destroy."), "{}", plan.stdout);
    assert!(plan.stdout.contains("terraform_data.a[1] is tainted"), "{}", plan.stdout);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
    // Once more changes nothing, and another state is not written over it.
    let again = scene.succeed(&["migrate"]);
    assert!(again.stdout.contains("was taken over before"), "{}", again.stdout);
    let other = STATE.replace("15f51882-754d-dd04-843c-cac745054395", "another");
    scene.write("other/terraform.tfstate", other.as_bytes());
    scene
        .run(&["migrate", "-state=other/terraform.tfstate"])
        .assert_refused("holds records already");
}

#[test]
fn what_cannot_be_read_as_a_whole_is_not_taken_over() {
    let mut old: Value = serde_json::from_str(STATE).unwrap();
    old["version"] = 3.into();
    let mut flat: Value = serde_json::from_str(STATE).unwrap();
    let instance = &mut flat["resources"][0]["instances"][0];
    instance.as_object_mut().unwrap().remove("attributes");
    instance["attributes_flat"] = serde_json::json!({ "id": "x" });
    let mut twice: Value = serde_json::from_str(STATE).unwrap();
    let first = twice["resources"][0].clone();
    twice["resources"].as_array_mut().unwrap().push(first);
    for (state, said) in [
        (old.to_string(), "format version 3"),
        (flat.to_string(), "Terraform 0.11"),
        (twice.to_string(), "has an object twice"),
        (STATE[..STATE.len() / 2].to_owned(), "no state file"),
        ("{\"encrypted_data\":\"x\"}".to_owned(), "encrypted"),
        (String::new(), "no state file"),
    ] {
        let scene = scene(&state);
        scene.succeed(&["init"]);
        scene.run(&["migrate"]).assert_refused(said);
        scene.run(&["plan"]).assert_refused("plumb migrate");
    }
}

#[test]
fn a_state_that_is_no_file_is_asked_for() {
    let backend = "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\n";
    let scene = Scene::new(&[("main.tf", backend)]);
    scene.run(&["migrate"]).assert_refused("terraform state pull > pulled.tfstate");
    let state = r#"{"version":4,"serial":1,"lineage":"l"}"#;
    scene.write("pulled.tfstate", state.as_bytes());
    scene.succeed(&["migrate", "-state=pulled.tfstate"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}
