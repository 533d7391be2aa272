use crate::scene::Scene;

const CHAIN: &str = r#"
variable "greeting" {
  default = "hello"
}
resource "terraform_data" "first" {
  input = var.greeting
}
resource "terraform_data" "second" {
  input = terraform_data.first.output
}
output "said" {
  value = terraform_data.second.output
}
"#;

fn kinds(messages: &[serde_json::Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["type"].as_str()).collect()
}

#[test]
fn what_is_planned_is_applied_and_then_nothing_is_left_to_do() {
    let scene = Scene::new(&[("main.tf", CHAIN)]);
    let planned = scene.run(&["plan", "-out=plan.bin", "-detailed-exitcode"]);
    assert_eq!(planned.code, 2, "{}", planned.stderr);
    assert!(planned.stdout.contains("Plan: 2 to add, 0 to change, 0 to destroy."));

    let shown = scene.succeed(&["show", "-json", "plan.bin"]).json();
    assert_eq!(shown["resource_changes"].as_array().unwrap().len(), 2);
    let validated = scene.succeed(&["validate", "-json", "-plan=plan.bin"]).json();
    assert_eq!(validated["result"], "pass");

    let applied = scene.succeed(&["apply", "-json", "plan.bin"]).messages();
    assert_eq!(kinds(&applied).iter().filter(|kind| **kind == "apply_complete").count(), 2);
    assert!(kinds(&applied).contains(&"change_summary"));

    let again = scene.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(again.code, 0, "{}", again.stdout);
    assert!(again.stdout.contains("No changes."));
    assert_eq!(scene.succeed(&["output", "-raw", "said"]).stdout, "hello");
    let listed = scene.succeed(&["state", "list"]).stdout;
    assert_eq!(listed, "terraform_data.first\nterraform_data.second\n");

    let destroyed = scene.succeed(&["destroy", "-auto-approve"]);
    assert!(destroyed.stdout.contains("Destroy complete! Resources: 2 destroyed."));
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
}

#[test]
fn a_plan_is_applied_once() {
    let scene = Scene::new(&[("main.tf", CHAIN)]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    scene.succeed(&["apply", "plan.bin"]);
    scene.run(&["apply", "plan.bin"]).assert_refused("was used already");
    let validated = scene.run(&["validate", "-json", "-plan=plan.bin"]);
    assert_eq!((validated.code, &validated.json()["result"]), (1, &"reject".into()));
}

#[test]
fn of_two_plans_of_the_same_instance_the_second_is_stale_and_changes_nothing() {
    let scene = Scene::new(&[("main.tf", CHAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.succeed(&["plan", "-var=greeting=one", "-out=one.bin"]);
    scene.succeed(&["plan", "-var=greeting=two", "-out=two.bin"]);
    scene.succeed(&["apply", "one.bin"]);
    let refused = scene.run(&["apply", "two.bin"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("terraform_data.first"), "{}", refused.stderr);
    assert_eq!(scene.succeed(&["output", "-raw", "said"]).stdout, "one");
}

#[test]
fn a_plan_is_applied_with_the_configuration_that_it_was_made_from() {
    let scene = Scene::new(&[("main.tf", CHAIN)]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    scene.write("main.tf", b"output \"said\" {\n  value = \"other\"\n}\n");
    scene.succeed(&["apply", "plan.bin"]);
    assert_eq!(scene.succeed(&["output", "-raw", "said"]).stdout, "hello");
}

#[test]
fn a_plan_of_another_estate_is_refused() {
    let (ours, theirs) = (Scene::new(&[("main.tf", CHAIN)]), Scene::new(&[("main.tf", CHAIN)]));
    theirs.succeed(&["plan", "-out=plan.bin"]);
    ours.succeed(&["apply", "-auto-approve"]);
    ours.write("plan.bin", &theirs.read("plan.bin"));
    ours.run(&["apply", "plan.bin"]).assert_refused("MAC");
}

#[test]
fn records_and_plans_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new(&[("main.tf", CHAIN)]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    let mode = |name: &str| {
        std::fs::metadata(scene.path().join(name)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode("plan.bin"), mode(".plumb"), mode(".plumb/key")), (0o600, 0o700, 0o600));
    assert_eq!(scene.read(".plumb/.gitignore"), b"*\n");
}

#[test]
fn changes_show_what_becomes_of_an_attribute() {
    let scene = Scene::new(&[("main.tf", CHAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    let planned = scene.succeed(&["plan", "-var", "greeting=goodbye"]);
    assert!(planned.stdout.contains("\"hello\" -> \"goodbye\""), "{}", planned.stdout);
    assert!(planned.stdout.contains("Plan: 0 to add, 2 to change, 0 to destroy."));
}
