//! Commands that answer questions and change nothing: `console`, `graph`, `metadata functions`.

use crate::scene::{Ran, Scene};

const CONFIGURATION: &str = r#"
variable "given" { default = "g" }
variable "missing" {}
variable "secret" {
  default   = "s"
  sensitive = true
}
locals { both = [var.given, terraform_data.one.id] }
resource "terraform_data" "one" { input = var.given }
resource "terraform_data" "two" {
  count = 2
  input = terraform_data.one.output
}
resource "terraform_data" "none" {
  count = 0
}
resource "terraform_data" "last" { input = [terraform_data.two[0].id, local.both] }
module "m" {
  source = "./m"
  x      = 1
}
"#;
const MODULE: &str = r#"
variable "x" {}
resource "terraform_data" "inner" { input = var.x }
output "y" { value = var.x + 1 }
"#;

fn scene() -> Scene {
    let scene = Scene::new(&[("main.tf", CONFIGURATION), ("m/main.tf", MODULE)]);
    scene.succeed(&["init"]);
    scene
}

fn ask(scene: &Scene, lines: &str) -> Ran {
    scene.run_with(&["console"], &[], lines)
}

#[test]
fn the_last_line_of_a_pipe_is_answered() {
    let scene = scene();
    let answer = |lines| ask(&scene, lines).stdout;
    assert_eq!(answer("1\nvar.given\n"), "\"g\"\n");
    assert_eq!(answer("module.m.y"), "2\n");
    assert_eq!(answer("var.missing\n"), "(known after apply)\n");
    assert_eq!(answer("var.secret\n"), "(sensitive value)\n");
    assert_eq!(answer("local.both\n"), "[\n  \"g\",\n  (known after apply),\n]\n");
    assert_eq!(answer("terraform_data.none\n"), "[]\n");
    assert_eq!(answer("type(toset([\"a\"]))\n"), "set(string)\n");
    assert_eq!(answer("1\nexit\n2\n"), "");
}

#[test]
fn the_first_error_ends_a_pipe() {
    let scene = scene();
    let ran = ask(&scene, "1 + \"a\"\nvar.nope\n");
    ran.assert_refused("Unsuitable value for right operand: a number is required.");
    ask(&scene, "var.nope\n").assert_refused("has not been declared");
    ask(&scene, "terraform_data.one.inptu\n").assert_refused("Did you mean \"input\"?");
}

#[test]
fn resources_are_as_recorded_or_as_planned() {
    let scene = scene();
    let planned =
        scene.run_with(&["console", "-plan", "-var=missing=1"], &[], "terraform_data.one.input\n");
    assert_eq!(planned.stdout, "\"g\"\n");
    scene.succeed(&["apply", "-auto-approve", "-var=missing=1"]);
    assert_eq!(ask(&scene, "length(terraform_data.two)\n").stdout, "2\n");
    assert_eq!(ask(&scene, "terraform_data.two[1].output\n").stdout, "\"g\"\n");
    assert_eq!(ask(&scene, "local.both[1] == terraform_data.one.id\n").stdout, "true\n");
    let changed = ["console", "-plan", "-var=missing=1", "-var=given=new"];
    let planned = scene.run_with(&changed, &[], "terraform_data.one.input\n");
    assert_eq!(planned.stdout, "\"new\"\n");
    assert_eq!(ask(&scene, "terraform_data.one.input\n").stdout, "\"g\"\n");
}

#[test]
fn the_graph_shows_resources_without_detours() {
    let scene = scene();
    let expected = r#"digraph G {
  rankdir = "RL";
  node [shape = rect, fontname = "sans-serif"];
  "terraform_data.last" [label="terraform_data.last"];
  "terraform_data.none" [label="terraform_data.none"];
  "terraform_data.one" [label="terraform_data.one"];
  "terraform_data.two" [label="terraform_data.two"];
  subgraph "cluster_module.m" {
    label = "module.m"
    fontname = "sans-serif"
    "module.m.terraform_data.inner" [label="terraform_data.inner"];
  }
  "terraform_data.last" -> "terraform_data.two";
  "terraform_data.two" -> "terraform_data.one";
}
"#;
    assert_eq!(scene.succeed(&["graph"]).stdout, expected);
}

#[test]
fn signatures_of_functions_are_in_both_spellings() {
    let scene = Scene::new(&[]);
    let signatures = scene.succeed(&["metadata", "functions", "-json"]).json();
    let signatures = signatures["function_signatures"].as_object().unwrap();
    assert_eq!(signatures.len(), 236);
    assert_eq!(signatures["upper"], signatures["core::upper"]);
    assert_eq!(signatures["merge"]["variadic_parameter"]["is_nullable"], true);
    assert_eq!(signatures["keys"]["parameters"][0]["type"], "dynamic");
    assert!(!signatures.contains_key("type"));
    scene.run(&["metadata", "functions"]).assert_refused("-json");
}
