//! `plumb explain`: why a plan does what it does with one instance.

use crate::scene::{Ran, Scene};

const MAIN: &str = r#"variable "size" {
  default = "a"
}
variable "password" {
  default   = "hunter1"
  sensitive = true
}
variable "copies" {
  default = 2
}
locals {
  types = { small = "t-${var.size}", fixed = "never" }
  type  = local.types.small
}
resource "terraform_data" "base" {
  input = local.type
}
resource "terraform_data" "top" {
  input            = { of = terraform_data.base.output, fixed = local.types.fixed }
  triggers_replace = module.m.size
}
resource "terraform_data" "quiet" {
  input = local.types.fixed
}
resource "terraform_data" "many" {
  count = var.copies
  input = var.password
}
resource "terraform_data" "triggered" {
  input = "x"
  lifecycle {
    replace_triggered_by = [terraform_data.base.input]
  }
}
resource "terraform_data" "untaken" {
  input = var.size == "a" ? terraform_data.base.id : "b"
}
module "m" {
  source = "./m"
  given  = var.size
}
output "end" {
  value = terraform_data.top.output
}
"#;

const MODULE: &str = r#"variable "given" {}
output "size" {
  value = var.given
}
"#;

fn applied() -> Scene {
    let scene = Scene::new(&[
        ("main.tf", MAIN),
        ("m/main.tf", MODULE),
        ("prod.tfvars", "# bigger\nsize = \"b\"\n"),
    ]);
    scene.succeed(&["init"]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene
}

fn explain(scene: &Scene, address: &str) -> String {
    let ran = scene.succeed(&["explain", "-var-file=prod.tfvars", address]);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

/// The line that begins with this text, and those below it that are indented more.
#[track_caller]
fn part<'t>(text: &'t str, begins: &str) -> Vec<&'t str> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with(begins));
    let first = lines.next().unwrap_or_else(|| panic!("no {begins:?} in\n{text}"));
    std::iter::once(first.trim())
        .chain(lines.take_while(|line| depth(line) > depth(first)).map(str::trim))
        .collect()
}

#[test]
fn an_attribute_is_followed_to_the_file_that_sets_its_variable() {
    let scene = applied();
    let text = explain(&scene, "terraform_data.base");
    assert!(
        text.starts_with("terraform_data.base will be updated in-place (main.tf:15)\n"),
        "{text}"
    );
    assert_eq!(
        part(&text, "input: "),
        [
            "input: \"t-a\" -> \"t-b\" (main.tf:16)",
            "from local.type (main.tf:13)",
            "from local.types.small (main.tf:12)",
            "from var.size = \"b\" (prod.tfvars:2)",
        ]
    );
    assert_eq!(
        part(&text, "What depends on it"),
        [
            "What depends on it changes as well:",
            "terraform_data.top (replaced)",
            "input, from terraform_data.base.output: \"t-a\" -> (known after apply)",
            "terraform_data.triggered (replaced)",
            "replace_triggered_by, from terraform_data.base.input: \"t-a\" -> \"t-b\"",
            "terraform_data.untaken (updated in-place)",
            "input, from terraform_data.base.id, which stays as it is",
        ],
        "{text}"
    );
    assert!(text.contains("records    that its record is still at revision "), "{text}");
}

#[test]
fn a_replacement_names_the_attribute_that_forces_it() {
    let scene = applied();
    let text = explain(&scene, "terraform_data.top");
    assert!(text.starts_with("terraform_data.top must be replaced (main.tf:18)\n"), "{text}");
    assert!(
        text.contains("because the provider cannot change in place: triggers_replace.\n"),
        "{text}"
    );
    assert_eq!(
        part(&text, "triggers_replace: "),
        [
            "triggers_replace: \"a\" -> \"b\" (main.tf:20), forces replacement",
            "from module.m.size (m/main.tf:2)",
            "from var.given (main.tf:40)",
            "from var.size = \"b\" (prod.tfvars:2)",
        ]
    );
    // The other part of the object stays as it is, and is not told of.
    assert_eq!(
        part(&text, "input.of: ")[1..],
        [
            "from terraform_data.base.output (main.tf:15): \"t-a\" -> (known after apply), updated in-place"
        ]
    );
    assert!(!text.contains("fixed"), "{text}");
    assert!(text.contains("output.end\n"), "{text}");
    let triggered = explain(&scene, "terraform_data.triggered");
    assert!(
        triggered
            .contains("because replace_triggered_by names what changes: terraform_data.base.\n"),
        "{triggered}"
    );
}

#[test]
fn no_change_has_reasons_too() {
    let scene = applied();
    let text = explain(&scene, "terraform_data.quiet");
    assert_eq!(
        text,
        "No change is planned for terraform_data.quiet (main.tf:22)\n  because the object is as the configuration has it.\n"
    );
    let targeted =
        scene.succeed(&["explain", "-target=terraform_data.base", "terraform_data.quiet"]).stdout;
    assert!(targeted.contains("because the plan is restricted by -target"), "{targeted}");
    let text = scene.succeed(&["explain", "-var=copies=0", "terraform_data.many[1]"]).stdout;
    assert!(text.contains("because the index [1] is beyond count (main.tf:26)."), "{text}");
}

#[test]
fn what_is_not_looked_at_and_what_is_sensitive_is_not_told() {
    let scene = applied();
    let text = explain(&scene, "terraform_data.untaken");
    assert!(text.contains("from terraform_data.base.id (main.tf:15)"), "{text}");
    let text =
        scene.succeed(&["explain", "-var=password=hunter2", "terraform_data.many[0]"]).stdout;
    assert!(text.contains("input: (sensitive value) -> (sensitive value)"), "{text}");
    assert!(text.contains("from var.password = (sensitive value), -var (main.tf:4)"), "{text}");
    assert!(!text.contains("hunter"), "{text}");
    let json =
        scene.succeed(&["explain", "-json", "-var=password=hunter2", "terraform_data.many[0]"]);
    // What the provider repeats of it is no longer called sensitive by anybody.
    let attribute = &json.json()["attributes"][0];
    assert_eq!(attribute["path"], "input");
    assert_eq!(attribute["before"], "(sensitive value)");
    assert_eq!(attribute["from"][0]["value"], "(sensitive value)");
    assert!(!json.stdout.contains("hunter2"), "{}", json.stdout);
}

#[test]
fn an_unknown_address_is_refused_with_what_may_be_meant() {
    let scene = applied();
    let refused = |address: &str, says: &str| {
        let ran: Ran = scene.run(&["explain", address]);
        ran.assert_refused(says);
    };
    refused("terraform_data.bsae", "Did you mean terraform_data.base?");
    refused("module.m.terraform_data.base", "Did you mean terraform_data.base?");
    refused(
        "terraform_data.many",
        "terraform_data.many has 2 instances. Name one of them: terraform_data.many[0], terraform_data.many[1].",
    );
    refused("terraform_data.many[2]", "Neither the configuration nor the records have");
    refused("nonsense", "Invalid address");
}

#[test]
fn a_saved_plan_is_explained_as_json_without_planning_again() {
    let scene = applied();
    scene.succeed(&["plan", "-var=size=b", "-out=p.plan"]);
    let ran = scene.succeed(&["explain", "-json", "terraform_data.base", "p.plan"]);
    let explained = ran.json();
    assert_eq!(explained["format_version"], "1.0");
    assert_eq!(explained["actions"], serde_json::json!(["update"]));
    let attribute = &explained["attributes"][0];
    assert_eq!(attribute["path"], "input");
    assert_eq!(attribute["after"], "\"t-b\"");
    assert_eq!(attribute["set_at"], serde_json::json!({"file": "main.tf", "line": 16}));
    let variable = &attribute["from"][0]["from"][0]["from"][0];
    assert_eq!(variable["reference"], "var.size");
    assert_eq!(variable["given_by"], "given when it was planned");
    assert_eq!(explained["checks"][0]["stage"], "records");
    scene
        .run(&["explain", "-var=size=b", "terraform_data.base", "p.plan"])
        .assert_refused("The -var option says how to plan, and p.plan is a plan already.");
}

#[test]
fn a_data_source_that_is_read_at_apply_says_what_it_waits_for() {
    let scene = Scene::new(&[(
        "main.tf",
        r#"resource "terraform_data" "first" {
  input = "x"
}
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = terraform_data.first.id }
}
"#,
    )]);
    scene.succeed(&["init"]);
    let text = scene.succeed(&["explain", "data.terraform_remote_state.other"]).stdout;
    assert!(text.contains("will be read during apply (main.tf:4)"), "{text}");
    assert!(text.contains("its configuration is not known before"), "{text}");
    assert_eq!(
        part(&text, "terraform_data.first (created)"),
        [
            "terraform_data.first (created)",
            "config, from terraform_data.first.id: null -> (known after apply)"
        ],
        "{text}"
    );
}

#[test]
fn an_object_that_moves_is_found_at_both_addresses() {
    let scene = Scene::new(&[("main.tf", "resource \"terraform_data\" \"old\" {}\n")]);
    scene.succeed(&["init"]);
    scene.succeed(&["apply", "-auto-approve"]);
    let moved = "resource \"terraform_data\" \"new\" {}\nmoved {\n  from = terraform_data.old\n  to   = terraform_data.new\n}\n";
    scene.write("main.tf", moved.as_bytes());
    let text = scene.succeed(&["explain", "terraform_data.new"]).stdout;
    assert!(
        text.starts_with("terraform_data.old has moved to terraform_data.new (main.tf:1)\n"),
        "{text}"
    );
    scene.run(&["explain", "terraform_data.old"]).assert_refused("moves to terraform_data.new");
}

#[test]
fn what_a_data_source_reads_anew_is_a_reason() {
    let state = |value: &str| {
        format!(
            "{{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":1,\"lineage\":\"x\",\"outputs\":{{\"o\":{{\"value\":\"{value}\",\"type\":\"string\"}}}},\"resources\":[]}}"
        )
    };
    let main = r#"data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "other.tfstate" }
}
resource "terraform_data" "a" {
  input = data.terraform_remote_state.other.outputs.o
}
"#;
    let scene = Scene::new(&[("main.tf", main), ("other.tfstate", &state("before"))]);
    scene.succeed(&["init"]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("other.tfstate", state("after").as_bytes());
    let text = scene.succeed(&["explain", "terraform_data.a"]).stdout;
    assert_eq!(
        part(&text, "input: "),
        [
            "input: \"before\" -> \"after\" (main.tf:6)",
            "from data.terraform_remote_state.other.outputs.o (main.tf:1): changed outside of this configuration: \"before\" -> \"after\"",
        ],
        "{text}"
    );
    let text = scene.succeed(&["explain", "data.terraform_remote_state.other"]).stdout;
    assert!(text.contains("it is a data source, and was read while planning"), "{text}");
}
