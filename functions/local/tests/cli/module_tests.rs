//! `plumb test`: what Terraform 1.11.4 printed for the same modules and tests.

use crate::scene::{Ran, Scene, flat};

#[track_caller]
fn assert_printed(ran: &Ran, code: i32, stdout: &str) {
    assert_eq!(ran.stdout, stdout, "{}", ran.stderr);
    assert_eq!(ran.code, code, "{}", ran.stderr);
}

const NAMED: &str = r#"
variable "name" { type = string }
variable "size" {
  default = 3
  validation {
    condition     = var.size < 10
    error_message = "too big: ${var.size}"
  }
}
resource "terraform_data" "a" { input = var.name }
output "name" { value = terraform_data.a.output }
output "size" { value = var.size }
check "c" {
  assert {
    condition     = var.size != 4
    error_message = "four is bad"
  }
}
"#;

const NAMED_TESTS: &str = r#"variables { name = "x" }
run "first" {
  assert {
    condition = output.name == "x"
    error_message = "not x"
  }
}
run "planned" {
  command = plan
  variables {
    name = "y"
    size = 5
  }
  assert {
    condition = terraform_data.a.input == "z"
    error_message = "input is ${terraform_data.a.input}"
  }
}
run "after" {
  assert {
    condition = output.size == run.first.size
    error_message = "no"
  }
}
run "expected" {
  command = plan
  variables { size = 11 }
  expect_failures = [ var.size ]
}
run "checked" {
  variables { size = 4 }
  expect_failures = [ check.c ]
}
run "expected_not" {
  command = plan
  expect_failures = [ check.c ]
}
run "left_out" {}
"#;

const NAMED_OUTPUT: &str = r#"tests/main.tftest.hcl... in progress
  run "first"... pass
  run "planned"... fail
  run "after"... pass
  run "expected"... pass
  run "checked"... pass
  run "expected_not"... fail
  run "left_out"... skip
tests/main.tftest.hcl... tearing down
tests/main.tftest.hcl... fail

Failure! 4 passed, 2 failed, 1 skipped.
"#;

fn named() -> Scene {
    Scene::new(&[("main.tf", NAMED), ("tests/main.tftest.hcl", NAMED_TESTS)])
}

#[test]
fn runs_pass_fail_and_are_left_out_after_errors() {
    let scene = named();
    let ran = scene.run(&["test", "-no-color"]);
    assert_printed(&ran, 1, NAMED_OUTPUT);
    assert_eq!(
        ran.stderr,
        r#"
Error: Test assertion failed

  on tests/main.tftest.hcl line 15, in run "planned":
  15:     condition = terraform_data.a.input == "z"
    ├────────────────
    │ terraform_data.a.input is "y"

input is y

Error: Missing expected failure

  on tests/main.tftest.hcl line 36, in run "expected_not":
  36:   expect_failures = [ check.c ]

The checkable object, check.c, was expected to report an error but did not.
"#
    );
    assert!(!scene.path().join(".plumb").exists(), "tests leave the estate alone");
}

#[test]
fn programs_follow_tests_in_a_stream() {
    let scene = named();
    let ran = scene.run(&["test", "-json"]);
    assert_eq!(ran.code, 1);
    let messages = ran.messages();
    let told: Vec<String> = messages
        .iter()
        .filter(|m| m["type"] == "test_run")
        .map(|m| {
            let run = &m["test_run"];
            let status = run["status"].as_str().unwrap_or_default();
            format!(
                "{} {} {status}",
                run["run"].as_str().unwrap(),
                run["progress"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "first starting ",
            "first complete pass",
            "planned starting ",
            "planned complete fail",
            "after starting ",
            "after complete pass",
            "expected starting ",
            "expected complete pass",
            "checked starting ",
            "checked complete pass",
            "expected_not starting ",
            "expected_not complete error",
            "left_out complete skip",
            "checked teardown ",
        ]
    );
    assert_eq!(messages[1]["@message"], "Found 1 file and 7 run blocks");
    let said = messages.iter().find(|m| m["type"] == "diagnostic").unwrap();
    assert_eq!(said["@testrun"], "planned");
    assert_eq!(said["diagnostic"]["snippet"]["context"], "run \"planned\"");
    let summary = messages.last().unwrap();
    assert_eq!(
        summary["test_summary"],
        serde_json::json!({"status": "error", "passed": 4, "failed": 1, "errored": 1, "skipped": 1})
    );
}

#[test]
fn a_report_counts_tests_as_junit_does() {
    let scene = named();
    let ran = scene.run(&["test", "-no-color", "-junit-xml=report.xml"]);
    assert_printed(&ran, 1, NAMED_OUTPUT);
    let report = String::from_utf8(scene.read("report.xml")).unwrap();
    assert!(report.contains(
        "<testsuite name=\"tests/main.tftest.hcl\" tests=\"7\" skipped=\"1\" failures=\"1\" errors=\"1\">"
    ), "{report}");
    assert!(report.contains("<failure message=\"1 of 1 assertions failed: input is y\"><![CDATA[\nError: Test assertion failed\n"), "{report}");
    assert!(
        report.contains(
            "<error message=\"Encountered an error\"><![CDATA[\nError: Missing expected failure\n"
        ),
        "{report}"
    );
    assert!(report.contains("<skipped message=\"Testcase skipped due to a previous testcase error\"><![CDATA[Previous testcase \"expected_not\" ended in error, which caused the remaining tests in the file to be skipped]]></skipped>"), "{report}");
}

#[test]
fn runs_have_modules_states_and_results_of_their_own() {
    let main = r#"
        variable "name" { default = "d" }
        resource "terraform_data" "a" { input = var.name }
        output "name" { value = terraform_data.a.output }
    "#;
    let setup = r#"
        variable "p" { default = "setup" }
        resource "terraform_data" "s" { input = var.p }
        output "value" { value = "${terraform_data.s.output}-made" }
    "#;
    let tests = r#"
run "setup" {
  module { source = "./setup" }
}
run "use" {
  variables { name = run.setup.value }
  assert {
    condition = output.name == "setup-made"
    error_message = "name is ${output.name}"
  }
}
run "key" {
  state_key = "other"
  variables { name = "k" }
  assert {
    condition = run.use.name == "setup-made" && output.name == "k"
    error_message = "x"
  }
}
run "itself" {
  assert {
    condition = run.itself.name == "k"
    error_message = "x"
  }
}
run "skipped" {}
"#;
    let scene =
        Scene::new(&[("main.tf", main), ("setup/main.tf", setup), ("tests/a.tftest.hcl", tests)]);
    let ran = scene.run(&["test", "-json"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let messages = ran.messages();
    let torn_down: Vec<&str> = messages
        .iter()
        .filter(|m| m["test_run"]["progress"] == "teardown")
        .map(|m| m["test_run"]["run"].as_str().unwrap())
        .collect();
    assert_eq!(torn_down, ["itself", "key", "setup"], "the last to change a state comes first");
    let said: Vec<&str> = messages
        .iter()
        .filter(|m| m["type"] == "diagnostic")
        .map(|m| m["diagnostic"]["summary"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["Reference to unevaluated run block"]);
}

const CONDITIONS: &str = r#"
variable "name" {}
resource "terraform_data" "a" {
 input = var.name
 lifecycle {
  precondition {
    condition = var.name != "bad"
    error_message = "precondition bad"
  }
  postcondition {
    condition = self.output != "post"
    error_message = "postcondition bad"
  }
 }
}
output "name" {
  value = terraform_data.a.output
  precondition {
    condition = var.name != "o"
    error_message = "out bad"
  }
}
"#;

#[test]
fn failures_are_expected_where_they_come() {
    let expecting = r#"
variables { name = "x" }
run "pre" {
  command = plan
  variables { name = "bad" }
  expect_failures = [ terraform_data.a ]
}
run "post" {
  variables { name = "post" }
  expect_failures = [ terraform_data.a ]
}
run "outplan" {
  command = plan
  variables { name = "o" }
  expect_failures = [ output.name ]
}
run "out" {
  variables { name = "o" }
  expect_failures = [ output.name ]
}
"#;
    let scene = Scene::new(&[
        ("main.tf", CONDITIONS),
        ("a.tftest.hcl", "run \"missing\" {}\nrun \"next\" {}\n"),
        ("tests/b.tftest.hcl", expecting),
        ("tests/c.tftest.hcl", "run \"e\" {\n  expect_failures = [ local.foo ]\n}\n"),
    ]);
    let ran = scene.run(&["test", "-no-color"]);
    assert_printed(
        &ran,
        1,
        r#"a.tftest.hcl... in progress
  run "missing"... fail
  run "next"... skip
a.tftest.hcl... tearing down
a.tftest.hcl... fail
tests/b.tftest.hcl... in progress
  run "pre"... pass
  run "post"... pass
  run "outplan"... pass
  run "out"... fail

Warning: Expected failure while planning

  on tests/b.tftest.hcl line 19, in run "out":
  19:   expect_failures = [ output.name ]

A custom condition within output.name failed during the planning stage and
prevented the requested apply operation. While this was an expected failure,
the apply operation could not be executed and so the overall test case will
be marked as a failure and the original diagnostic included in the test
report.

tests/b.tftest.hcl... tearing down
tests/b.tftest.hcl... fail
tests/c.tftest.hcl... in progress
  run "e"... fail
tests/c.tftest.hcl... tearing down
tests/c.tftest.hcl... fail

Failure! 3 passed, 3 failed, 1 skipped.
"#,
    );
    let said = flat(&ran.stderr);
    for expected in [
        "on main.tf line 2: 2: variable \"name\" {} The module under test for run block \"missing\" has a required variable \"name\" with no set value. Use a -var or -var-file command line argument or add this variable into a \"variables\" block within the test file or run block.",
        "Error: Module output value precondition failed",
        "You cannot expect failures from local.foo. You can only expect failures from checkable objects such as input variables, output values, check blocks, managed resources and data sources.",
    ] {
        assert!(said.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn values_come_from_outside_from_the_file_and_from_the_run() {
    let main = r#"
        variable "x" { default = 1 }
        variable "y" { default = "yd" }
        resource "terraform_data" "a" { input = var.x }
        output "x" { value = terraform_data.a.output }
    "#;
    let inner = r#"
variables {
  y = "file ${var.x}"
}
run "y" {
  variables { x = upper(var.y) }
  assert {
    condition = var.y == "file 44" && var.x == "FILE 44" && var.undeclared == "u"
    error_message = "y=${var.y} x=${var.x}"
  }
}
run "wrong" {
  variables {
    zz = 3
    x = [var.nope, run.wrong.x, run.f.x]
  }
}
"#;
    let root = r#"
run "y" {
  assert {
    condition = var.y == "fromtfvars" && var.x == 1
    error_message = "y=${var.y} x=${var.x}"
  }
}
"#;
    let scene = Scene::new(&[
        ("main.tf", main),
        ("terraform.tfvars", "y = \"fromtfvars\"\nundeclared = \"u\"\n"),
        ("tests/z.auto.tfvars", "x = 44\n"),
        ("r.tftest.hcl", root),
        ("tests/b.tftest.hcl", inner),
    ]);
    let ran = scene.run(&["test", "-no-color"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("\nFailure! 2 passed, 1 failed.\n"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(ran.stdout.contains("The module under test does not declare a variable named \"zz\""));
    let said = flat(&ran.stderr);
    for expected in [
        "The input variable \"nope\" is not available to the current run block. You can only reference variables defined at the file or global levels.",
        "The run block \"wrong\" has not executed yet.",
        "The run block \"f\" does not exist within this test file.",
    ] {
        assert!(said.contains(expected), "{}", ran.stderr);
    }
    let chosen = scene.run(&["test", "-no-color", "-filter=r.tftest.hcl", "-var=x=1"]);
    assert_eq!(chosen.stdout.matches("run \"").count(), 1, "{}", chosen.stdout);
    assert!(scene.run(&["test", "-filter=nope"]).stdout.contains("Success! 0 passed, 0 failed."));
}

#[test]
fn what_is_not_known_cannot_be_asserted() {
    let main = r#"
        variable "x" { default = 1 }
        resource "terraform_data" "a" { input = var.x }
        output "un" { value = terraform_data.a.id }
    "#;
    let tests = r#"
run "a" {
  command = plan
}
run "use" {
  command = plan
  variables { x = run.a.un }
}
"#;
    let condition = r#"
run "unknown" {
  command = plan
  assert {
    condition = terraform_data.a.output == 1
    error_message = "x"
  }
  assert {
    condition = "foo${var.x}"
    error_message = "x"
  }
  assert {
    condition = terraform_data.a.foo == 3
    error_message = "x"
  }
}
"#;
    let scene = Scene::new(&[
        ("main.tf", main),
        ("tests/a.tftest.hcl", tests),
        ("tests/b.tftest.hcl", condition),
    ]);
    let ran = scene.run(&["test", "-no-color"]);
    assert!(ran.stdout.contains("Failure! 1 passed, 2 failed."), "{}{}", ran.stdout, ran.stderr);
    let said = flat(&ran.stderr);
    for expected in [
        "The value for run.a.un is unknown. Run block \"a\" is executing a \"plan\" operation, and the specified output value is only known after apply.",
        "Error: Unknown condition value",
        "│ terraform_data.a.output is a number",
        "Error: Invalid condition run",
        "Invalid condition run value: a bool is required.",
        "This object has no argument, nested block, or exported attribute named \"foo\".",
    ] {
        assert!(said.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn resources_modules_and_providers_are_overridden() {
    let main = r#"
        resource "terraform_data" "a" {
          count = 2
          input = count.index
        }
        resource "terraform_data" "t" { input = "x" }
        module "m" { source = "./mod" }
        output "m" { value = module.m }
        output "t" { value = terraform_data.t.id }
        output "ids" { value = terraform_data.a[*].id }
    "#;
    let module = r#"
        resource "terraform_data" "x" { input = "x" }
        output "id" { value = terraform_data.x.id }
        output "other" { value = 3 }
    "#;
    let tests = r#"
override_resource {
  target = terraform_data.a
  values = { id = "all" }
}
override_resource {
  target          = terraform_data.t
  override_during = plan
  values          = { id = "tid" }
}
override_module {
  target  = module.m
  outputs = { id = "mid", unknown = 1 }
}
run "plan" {
  command = plan
  assert {
    condition     = output.t == "tid" && module.m.id == "mid" && module.m.other == null
    error_message = "${jsonencode(module.m)} ${output.t}"
  }
}
run "apply" {
  override_resource {
    target = terraform_data.a[1]
    values = { id = "one" }
  }
  assert {
    condition     = output.ids == ["all", "one"] && terraform_data.t.output == null
    error_message = jsonencode(output.ids)
  }
}
"#;
    let mocked = r#"
mock_provider "terraform" {
  mock_resource "terraform_data" {
    defaults = { id = "mocked" }
  }
  override_resource {
    target = terraform_data.t
  }
}
run "mocks" {
  assert {
    condition     = output.ids == ["mocked", "mocked"] && length(output.t) == 8
    error_message = "${jsonencode(output.ids)} ${output.t}"
  }
}
"#;
    let scene = Scene::new(&[
        ("main.tf", main),
        ("mod/main.tf", module),
        ("tests/a.tftest.hcl", tests),
        ("tests/b.tftest.hcl", mocked),
    ]);
    scene.succeed(&["get"]);
    let ran = scene.run(&["test", "-no-color"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("\nSuccess! 3 passed, 0 failed.\n"), "{}", ran.stdout);
}

#[test]
fn files_are_read_whole_before_anything_is_run() {
    let tests = r#"variables { x = 2 }
foo {}
run "a" {
  command = destroy
  assert {
    condition = true
    error_message = "x"
  }
  module {}
}
run "a" { }
run "b c" { }
run "d" {
  plan_options {
    mode    = refresh-only
    refresh = false
  }
}
mock_provider "terraform" {
  mock_resource "terraform_data" { }
  mock_resource "terraform_data" { }
  override_resource { }
}
override_data {
  target = terraform_data.a
}
"#;
    let scene =
        Scene::new(&[("main.tf", "resource \"terraform_data\" \"a\" {}"), ("a.tftest.hcl", tests)]);
    let ran = scene.run(&["test", "-no-color"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let said = flat(&ran.stderr);
    for expected in [
        "Blocks of type \"foo\" are not expected here.",
        "The \"command\" argument requires one of the following keywords without quotes: apply or plan.",
        "Error: Invalid assert expression",
        "You must specify a source attribute when executing alternate modules during test executions.",
        "This test file already has a run named a block defined at a.tftest.hcl:3,1-8.",
        "Error: Invalid run block name",
        "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.",
        "A mock_resource block for terraform_data has already been defined at a.tftest.hcl:20,3-33.",
        "override_resource blocks must specify a target address.",
        "You can only target data sources from override_data blocks, not terraform_data.a.",
    ] {
        assert!(said.contains(expected), "{expected}\n{}", ran.stderr);
    }
}

#[test]
fn a_directory_of_tests_that_is_not_there_is_told() {
    let scene = Scene::new(&[("main.tf", "output \"a\" {\n  value = 1\n}\n")]);
    for command in ["init", "validate", "test"] {
        let ran = scene.succeed(&[command, "-no-color", "-test-directory=elsewhere"]);
        let warned = "Warning: Test directory does not exist Requested test directory elsewhere does not exist.";
        assert!(flat(&ran.stdout).contains(warned), "{command}: {}{}", ran.stdout, ran.stderr);
    }
}
