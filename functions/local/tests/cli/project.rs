//! A team's `plumb.toml`, above the directories of its estates.

use crate::scene::{Ran, Scene};

const SERVICE: &str = r#"
variable "size" {
  type = number
}
resource "terraform_data" "service" {
  input = var.size
}
output "size" {
  value = terraform_data.service.output
}
"#;

fn team() -> Scene {
    Scene::new(&[
        (
            "plumb.toml",
            r#"
[store.dir]
path = "records"

[plans]
expiry = "1h"

[estates.production]
directory = "service"
var_files = ["production.tfvars"]

[estates.staging]
directory = "service"
var_files = ["staging.tfvars"]
"#,
        ),
        ("service/main.tf", SERVICE),
        ("service/production.tfvars", "size = 3\n"),
        ("service/staging.tfvars", "size = 1\n"),
        ("other/main.tf", "output \"a\" {\n  value = 1\n}\n"),
    ])
}

fn on(scene: &Scene, estate: &str, arguments: &[&str]) -> Ran {
    let chosen = format!("-estate={estate}");
    scene.run(&[&["-chdir=service", &chosen], arguments].concat())
}

#[test]
fn estates_share_a_store_and_nothing_else() {
    let scene = team();
    for estate in ["production", "staging"] {
        let applied = on(&scene, estate, &["apply", "-auto-approve"]);
        assert_eq!(applied.code, 0, "{}", applied.stderr);
    }
    assert_eq!(on(&scene, "production", &["output", "-raw", "size"]).stdout, "3");
    assert_eq!(on(&scene, "staging", &["output", "-raw", "size"]).stdout, "1");
    assert!(scene.path().join("records").is_dir());
    assert!(!scene.path().join("service/.plumb").exists());

    let environment = [("PLUMB_ESTATE", "staging")];
    let shown = scene.run_with(&["-chdir=service", "output", "-raw", "size"], &environment, "");
    assert_eq!(shown.stdout, "1", "{}", shown.stderr);
}

#[test]
fn what_is_given_by_hand_comes_after_the_estates_own_files() {
    let scene = team();
    let planned = on(&scene, "staging", &["plan", "-var=size=7"]);
    assert!(planned.stdout.contains("input  = 7"), "{}", planned.stdout);
}

#[test]
fn questions_are_answered_with_the_estates_own_values() {
    let scene = team();
    for arguments in [["console"].as_slice(), &["console", "-plan"]] {
        let command = [&["-chdir=service", "-estate=production"], arguments].concat();
        let answered = scene.run_with(&command, &[], "var.size\n");
        assert_eq!(answered.stdout, "3\n", "{}", answered.stderr);
    }
}

#[test]
fn a_saved_plan_finds_its_ephemeral_values_in_the_estates_own_files() {
    let scene = team();
    let token = b"variable \"token\" {\n  type      = string\n  ephemeral = true\n}\n";
    scene.write("service/token.tf", token);
    scene.write("service/production.tfvars", b"size  = 3\ntoken = \"t\"\n");
    assert_eq!(on(&scene, "production", &["plan", "-out=plan.bin"]).code, 0);
    let applied = on(&scene, "production", &["apply", "plan.bin"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
}

#[test]
fn a_plan_of_one_estate_is_none_of_another() {
    let scene = team();
    assert_eq!(on(&scene, "staging", &["plan", "-out=plan.bin"]).code, 0);
    let refused = on(&scene, "production", &["apply", "plan.bin"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("staging"), "{}", refused.stderr);
    assert_eq!(on(&scene, "production", &["state", "list"]).stdout, "");
}

#[test]
fn without_a_name_nothing_is_guessed() {
    let scene = team();
    scene.run(&["-chdir=service", "plan"]).assert_refused("production, staging");
    scene.run(&["-chdir=other", "plan"]).assert_refused("[estates.NAME]");
    on(&scene, "nobody", &["plan"]).assert_refused("no estate \"nobody\"");
}

#[test]
fn a_misspelt_setting_is_refused_where_it_stands() {
    let scene = team();
    scene.write("plumb.toml", b"[store.s3]\nbucket = \"b\"\nbucket_ower = \"1\"\n");
    scene.run(&["-chdir=service", "plan"]).assert_refused("bucket_ower");
    scene.write("plumb.toml", b"\xff\xfe");
    scene.run(&["-chdir=service", "plan"]).assert_refused("plumb.toml");
}
