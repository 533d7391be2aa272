//! What conditions came to, in the JSON of plans and records: `checks/terraform.json` has what Terraform 1.11.4 said of
//! the configuration in `checks/configuration`, step by step.

use crate::scene::Scene;
use serde_json::Value;

const STEPS: &str = include_str!("checks/terraform.json");
const MAIN: &str = include_str!("checks/configuration/main.tf");
const CHILD: &str = include_str!("checks/configuration/child/main.tf");
const OTHER: &str = include_str!("checks/configuration/other.tfstate");

#[test]
fn conditions_are_told_of_as_terraform_tells_of_them() {
    let scene =
        Scene::new(&[("main.tf", MAIN), ("child/main.tf", CHILD), ("other.tfstate", OTHER)]);
    scene.succeed(&["init"]);
    let steps: Vec<Value> = serde_json::from_str(STEPS).unwrap();
    for step in steps {
        let name = step["name"].as_str().unwrap();
        let arguments = step["arguments"].as_array().unwrap().iter();
        let arguments = arguments.map(|argument| argument.as_str().unwrap());
        let plan: Vec<&str> = ["plan", "-out=plan.bin"].into_iter().chain(arguments).collect();
        scene.succeed(&plan);
        let planned = scene.succeed(&["show", "-json", "plan.bin"]).json();
        assert_same(&format!("{name}, planned"), &planned["checks"], &step["planned"]);
        assert_eq!(planned["prior_state"]["checks"], Value::Null, "{name}");
        // Some fail, and what they found is recorded all the same.
        scene.run(&["apply", "plan.bin"]);
        let recorded = scene.succeed(&["show", "-json"]).json();
        assert_same(&format!("{name}, applied"), &recorded["checks"], &step["applied"]);
    }
}

fn assert_same(place: &str, ours: &Value, theirs: &Value) {
    let list = |checks: &Value| checks.as_array().cloned().unwrap_or_default();
    assert_eq!(list(ours), list(theirs), "{place}");
}

#[test]
fn a_state_file_has_what_conditions_came_to() {
    let text = "variable \"v\" {\n  default = 1\n  validation {\n    condition     = var.v > 0\n    error_message = \"no\"\n  }\n}\n\
                output \"v\" {\n  value = var.v\n}\n";
    let scene = Scene::new(&[("main.tf", text)]);
    scene.succeed(&["apply", "-auto-approve"]);
    let pulled = scene.succeed(&["state", "pull"]).json();
    let expected = serde_json::json!([{
        "object_kind": "var", "config_addr": "var.v", "status": "pass",
        "objects": [{ "object_addr": "var.v", "status": "pass" }],
    }]);
    assert_eq!(pulled["check_results"], expected);
    // Without conditions nothing is left of them.
    scene.write("main.tf", b"output \"v\" {\n  value = 2\n}\n");
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.succeed(&["state", "pull"]).json()["check_results"], Value::Null);
}
