//! Configuration for imported objects that have none.

use crate::scene::Scene;

const IMPORTS: &str = r#"
locals {
  id = "abc"
}
import {
  to = terraform_data.a
  id = local.id
}
"#;

#[test]
fn what_is_generated_is_planned_and_applied() {
    let scene = Scene::new(&[("main.tf", IMPORTS)]);
    scene.run(&["plan"]).assert_refused("Configuration for import target does not exist");
    let generate = ["plan", "-no-color", "-generate-config-out=generated.tf", "-out=plan.bin"];
    let planned = scene.succeed(&generate);
    for says in [
        "  # terraform_data.a will be imported\n  # (config will be generated)\n",
        "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.",
        "has generated configuration and written it to generated.tf.",
    ] {
        assert!(planned.stdout.contains(says), "{says}\n{}", planned.stdout);
    }
    let generated = r#"# __generated__ by Plumbline
# Please review these resources and move them into your main configuration files.

# __generated__ by Plumbline from "abc"
resource "terraform_data" "a" {
  input            = null
  triggers_replace = null
}
"#;
    assert_eq!(String::from_utf8(scene.read("generated.tf")).unwrap(), generated);
    scene.run(&generate).assert_refused("Target generated file already exists");
    scene.succeed(&["apply", "plan.bin"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn nothing_is_written_where_nothing_lacks_configuration() {
    let scene = Scene::new(&[("main.tf", "resource \"terraform_data\" \"a\" {}\n")]);
    scene.succeed(&["plan", "-generate-config-out=generated.tf"]);
    assert!(!scene.path().join("generated.tf").exists());
    for elsewhere in
        ["-generate-config-out=other/generated.tf", "-generate-config-out=generated.txt"]
    {
        scene.run(&["plan", elsewhere]).assert_refused("has to be a part of the configuration");
    }
    scene
        .run(&["plan", "-destroy", "-generate-config-out=generated.tf"])
        .assert_refused("during a normal plan");
    scene
        .run(&["apply", "-generate-config-out=generated.tf"])
        .assert_refused("generate-config-out");
}
