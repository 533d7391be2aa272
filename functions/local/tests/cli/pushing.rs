//! A state file put in place of what is recorded.

use crate::scene::Scene;
use serde_json::Value;

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  input = 2
}
output "b" {
  value = terraform_data.b.output
}
"#;

fn applied() -> Scene {
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene
}

fn pulled(scene: &Scene) -> Value {
    scene.succeed(&["state", "pull"]).json()
}

fn push(scene: &Scene, state: &Value) {
    scene.write("pushed.tfstate", state.to_string().as_bytes());
    scene.succeed(&["state", "push", "pushed.tfstate"]);
}

#[test]
fn what_was_pulled_and_changed_is_pushed_back() {
    let scene = applied();
    let mut state = pulled(&scene);
    // As it is, it says nothing new.
    push(&scene, &state);
    assert_eq!(pulled(&scene), state);
    state["serial"] = (state["serial"].as_u64().unwrap() + 1).into();
    state["resources"].as_array_mut().unwrap().remove(0);
    state["resources"][0]["instances"][0]["attributes"]["input"]["value"] = 3.into();
    state["outputs"] = serde_json::json!({});
    push(&scene, &state);
    assert_eq!(pulled(&scene), state);
    let runs = scene.succeed(&["runs", "list"]);
    assert!(runs.stdout.contains("pushed the state pushed.tfstate"), "{}", runs.stdout);
    let plan = scene.run(&["plan"]);
    assert!(plan.stdout.contains("Plan: 1 to add, 1 to change, 0 to destroy."), "{}", plan.stdout);
}

#[test]
fn standard_input_is_a_file_too() {
    let scene = applied();
    let mut state = pulled(&scene);
    state["serial"] = 100.into();
    let pushed = scene.run_with(&["state", "push", "-"], &[], &state.to_string());
    assert_eq!(pushed.code, 0, "{}", pushed.stderr);
    assert_eq!(pulled(&scene)["serial"], 100);
}

#[test]
fn another_or_an_older_state_is_pushed_by_force_alone() {
    let scene = applied();
    let state = pulled(&scene);
    let serial = state["serial"].as_u64().unwrap();
    let mut other = state.clone();
    other["lineage"] = "another".into();
    let mut older = state.clone();
    older["serial"] = 1.into();
    let mut same = state.clone();
    same["resources"].as_array_mut().unwrap().pop();
    for (given, says) in [
        (&other, "over unrelated state"),
        (&older, "with serial 1 over newer state"),
        (&same, "has the same serial"),
    ] {
        scene.write("pushed.tfstate", given.to_string().as_bytes());
        scene.run(&["state", "push", "pushed.tfstate"]).assert_refused(says);
        assert_eq!(pulled(&scene), state);
    }
    scene.write("pushed.tfstate", other.to_string().as_bytes());
    scene.succeed(&["state", "push", "-force", "pushed.tfstate"]);
    let now = pulled(&scene);
    // A serial never goes back: plans and runs compare it.
    assert_eq!((&now["lineage"], now["serial"].as_u64()), (&other["lineage"], Some(serial + 1)));
    scene.run(&["state", "push", "none.tfstate"]).assert_refused("Failed to open");
    scene.write("broken.tfstate", b"{");
    scene.run(&["state", "push", "broken.tfstate"]).assert_refused("no state file");
}

#[test]
fn a_push_that_is_killed_anywhere_keeps_the_estate_closed_and_goes_on() {
    let mut closed = 0;
    for last in 1.. {
        let scene = applied();
        let mut state = pulled(&scene);
        state["serial"] = (state["serial"].as_u64().unwrap() + 1).into();
        state["resources"].as_array_mut().unwrap().remove(0);
        state["resources"][0]["instances"][0]["attributes"]["input"]["value"] = 9.into();
        state["outputs"]["b"]["value"] = 9.into();
        scene.write("pushed.tfstate", state.to_string().as_bytes());
        let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", &*last.to_string())];
        let ran = scene.run_with(&["state", "push", "pushed.tfstate"], &kill, "");
        if ran.code == 0 {
            break;
        }
        assert_eq!(ran.code, -1, "{last}: {}\n{}", ran.stdout, ran.stderr);
        if scene.run(&["plan"]).stderr.contains("plumb state push") {
            closed += 1;
            let mut other = state.clone();
            other["outputs"]["b"]["value"] = 8.into();
            scene.write("other.tfstate", other.to_string().as_bytes());
            scene.run(&["state", "push", "other.tfstate"]).assert_refused("sealed");
        }
        scene.succeed(&["state", "push", "pushed.tfstate"]);
        assert_eq!(pulled(&scene), state, "{last}");
    }
    assert!(closed >= 3, "{closed}");
}

#[test]
fn a_plan_from_before_a_push_rests_on_what_it_changed() {
    let scene = applied();
    scene.write("main.tf", MAIN.replace("input = 1", "input = 5").as_bytes());
    scene.succeed(&["plan", "-out=plan.bin"]);
    let mut state = pulled(&scene);
    state["serial"] = (state["serial"].as_u64().unwrap() + 1).into();
    state["resources"][0]["instances"][0]["attributes"]["input"]["value"] = 3.into();
    push(&scene, &state);
    let refused = scene.run(&["apply", "-verdict-exitcode", "plan.bin"]);
    assert_eq!(refused.code, 3, "{}\n{}", refused.stdout, refused.stderr);
}
