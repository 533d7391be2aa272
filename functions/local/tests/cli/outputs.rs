//! Outputs, where Terraform's ways are not what one would guess.

use crate::scene::Scene;

#[test]
fn a_destroy_plan_shows_outputs_as_a_normal_plan_would_leave_them() {
    let scene = Scene::new(&[(
        "main.tf",
        r#"
variable "n" {
  default = 2
}
resource "terraform_data" "a" {
  count = var.n
  input = "i${count.index}"
}
output "all" {
  value = terraform_data.a[*].output
}
"#,
    )]);
    scene.succeed(&["apply", "-auto-approve", "-var=n=3"]);
    scene.succeed(&["plan", "-destroy", "-out=plan.bin"]);
    let shown = scene.succeed(&["show", "-json", "plan.bin"]).json();
    assert_eq!(shown["output_changes"]["all"]["before"], serde_json::json!(["i0", "i1"]));
    assert_eq!(shown["resource_changes"].as_array().unwrap().len(), 3);
    scene.succeed(&["apply", "plan.bin"]);
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
}

#[test]
fn a_destroy_plan_shows_outputs_without_configuration_as_recorded() {
    let resource = "variable \"n\" {\n  default = 1\n}\nresource \"terraform_data\" \"a\" {\n  count = var.n\n}\n\
                    output \"only\" {\n  value = one(terraform_data.a[*].id)\n}\n";
    let removed = "output \"removed\" {\n  value = \"was\"\n}\n";
    let scene = Scene::new(&[("main.tf", &format!("{resource}{removed}"))]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("main.tf", resource.as_bytes());
    scene.succeed(&["plan", "-destroy", "-out=plan.bin"]);
    let shown = scene.succeed(&["show", "-json", "plan.bin"]).json();
    let deleted = serde_json::json!({
        "actions": ["delete"], "before": "was", "after": null, "after_unknown": false,
        "before_sensitive": false, "after_sensitive": false
    });
    assert_eq!(shown["output_changes"]["removed"], deleted);
    assert!(shown["output_changes"]["only"]["before"].is_string(), "{shown}");
    assert_eq!(shown["prior_state"]["values"]["outputs"]["removed"]["value"], "was");
    // What a normal plan would leave null is not there any more.
    scene.succeed(&["plan", "-destroy", "-var=n=0", "-out=plan.bin"]);
    let shown = scene.succeed(&["show", "-json", "plan.bin"]).json();
    let names = |object: &serde_json::Value| -> Vec<String> {
        object.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(names(&shown["output_changes"]), ["removed"]);
    assert_eq!(names(&shown["prior_state"]["values"]["outputs"]), ["removed"]);
    scene.succeed(&["apply", "plan.bin"]);
    assert_eq!(scene.succeed(&["output", "-json"]).json(), serde_json::json!({}));
}

#[test]
fn refreshing_keeps_outputs_that_are_not_known_before_an_apply() {
    let before = r#"
resource "terraform_data" "a" {
  input = "a"
}
output "partly" {
  value = { known = 1, later = terraform_data.a.output }
}
output "wholly" {
  value = terraform_data.a.output
}
output "other" {
  value = "old"
}
"#;
    let scene = Scene::new(&[("main.tf", before)]);
    scene.succeed(&["apply", "-auto-approve"]);
    let after = before
        .replace("later = terraform_data.a.output", "later = terraform_data.b.output")
        .replace("value = terraform_data.a.output", "value = terraform_data.b.output")
        .replace("\"old\"", "\"new\"");
    let added = "resource \"terraform_data\" \"b\" {\n  input = \"b\"\n}\n";
    scene.write("main.tf", format!("{after}{added}").as_bytes());
    let refreshed = scene.succeed(&["refresh"]);
    assert!(refreshed.stdout.contains("\"later\" = \"a\""), "{}", refreshed.stdout);
    let outputs = scene.succeed(&["output", "-json"]).json();
    assert_eq!(outputs["partly"]["value"], serde_json::json!({"known": 1, "later": "a"}));
    assert_eq!(outputs["wholly"]["value"], "a");
    assert_eq!(outputs["other"]["value"], "new");
}

#[test]
fn what_is_about_to_go_may_be_wrong() {
    let scene = Scene::new(&[(
        "main.tf",
        r#"
variable "wrong" {
  default = false
}
resource "terraform_data" "a" {
  input = "kept"
  lifecycle {
    precondition {
      condition     = !var.wrong
      error_message = "It is wrong."
    }
  }
}
output "a" {
  value = terraform_data.a.output
}
"#,
    )]);
    scene.succeed(&["apply", "-auto-approve"]);
    let planned = scene.succeed(&["plan", "-destroy", "-var=wrong=true"]);
    assert!(planned.stdout.contains("0 to add, 0 to change, 1 to destroy"), "{}", planned.stdout);
    assert!(!planned.stderr.contains("It is wrong"), "{}", planned.stderr);
}

#[test]
fn a_modules_sensitive_output_is_hidden_in_the_root_module_alone() {
    let scene = Scene::new(&[
        (
            "main.tf",
            r#"
module "m" {
  source = "./child"
  secret = "s3cret"
}
output "declared" {
  value = issensitive(module.m.declared)
}
output "inherited" {
  value = issensitive(module.m.inherited)
}
"#,
        ),
        (
            "child/main.tf",
            r#"
variable "secret" {
  sensitive = true
}
output "declared" {
  value     = "plain"
  sensitive = true
}
output "inherited" {
  value     = var.secret
  sensitive = true
}
"#,
        ),
    ]);
    scene.succeed(&["init"]);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.succeed(&["output", "-json", "declared"]).json(), false);
    assert_eq!(scene.succeed(&["output", "-json", "inherited"]).json(), true);
}

#[test]
fn an_output_that_is_null_is_planned_and_not_recorded() {
    let scene = Scene::new(&[(
        "main.tf",
        "output \"none\" {\n  value = null\n}\noutput \"some\" {\n  value = 1\n}\n",
    )]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    let shown = scene.succeed(&["show", "-json", "plan.bin"]).json();
    let none = serde_json::json!({
        "actions": ["no-op"], "before": null, "after": null, "after_unknown": false,
        "before_sensitive": false, "after_sensitive": false
    });
    assert_eq!(shown["output_changes"]["none"], none);
    let planned = serde_json::json!({"sensitive": false, "type": "dynamic", "value": null});
    assert_eq!(shown["planned_values"]["outputs"]["none"], planned);
    scene.succeed(&["apply", "plan.bin"]);
    let outputs = scene.succeed(&["output", "-json"]).json();
    assert_eq!(outputs.as_object().unwrap().keys().collect::<Vec<_>>(), ["some"]);
    let again = scene.succeed(&["plan"]);
    assert!(again.stdout.contains("No changes"), "{}", again.stdout);
}

#[test]
fn an_infinite_number_is_refused_before_anything_is_made() {
    for text in [
        "output \"a\" {\n  value = 1 / 0\n}\n",
        "resource \"terraform_data\" \"a\" {\n  input = { n = [-1 / 0] }\n}\n",
    ] {
        let scene = Scene::new(&[("main.tf", text)]);
        scene.succeed(&["validate"]);
        let refused = scene.run(&["apply", "-auto-approve"]);
        assert!(refused.stderr.contains("Infinite number"), "{}", refused.stderr);
        assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
    }
}

#[test]
fn the_state_before_a_targeted_plan_has_what_the_plan_has_not_looked_at() {
    let files = |value: u32| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  input = {value}\n}}\nresource \"terraform_data\" \"b\" {{\n  input = {value}\n}}\noutput \"known\" {{\n  value = {value}\n}}\n"
        )
    };
    let scene = Scene::new(&[("main.tf", &files(1))]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("main.tf", files(2).as_bytes());
    let prior = |arguments: &[&str]| {
        scene.succeed(&[&["plan", "-out=plan.bin"], arguments].concat());
        scene.succeed(&["show", "-json", "plan.bin"]).json()["prior_state"]["values"].clone()
    };
    let resources = prior(&["-target=terraform_data.a"])["root_module"]["resources"].clone();
    assert_eq!(resources.as_array().unwrap().len(), 2, "{resources}");
    assert_eq!(prior(&[])["outputs"]["known"]["value"], 2);
}

#[test]
fn an_output_that_never_was_known_is_recorded_as_null() {
    let scene = Scene::new(&[(
        "main.tf",
        "output \"a\" {\n  value = format(\"%s\", null)\n}\noutput \"b\" {\n  value = 1\n}\n",
    )]);
    scene.succeed(&["apply", "-auto-approve"]);
    let outputs = scene.succeed(&["output", "-json"]).json();
    let null = serde_json::json!({"sensitive": false, "type": "dynamic", "value": null});
    assert_eq!((&outputs["a"], &outputs["b"]["value"]), (&null, &serde_json::json!(1)));
}

#[test]
fn an_output_whose_condition_fails_has_the_value_that_was_planned() {
    let scene = Scene::new(&[(
        "main.tf",
        r#"
variable "n" {
  default = 1
}
output "a" {
  value = var.n
  precondition {
    condition     = var.n == 1
    error_message = "It is not one."
  }
}
"#,
    )]);
    scene.succeed(&["apply", "-auto-approve"]);
    let failed = scene.run(&["apply", "-auto-approve", "-refresh-only", "-var=n=2"]);
    assert!(failed.stderr.contains("It is not one."), "{}", failed.stderr);
    assert_eq!(scene.succeed(&["output", "-json", "a"]).json(), "2");
}
