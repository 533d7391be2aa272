//! `check` blocks warn, and stop nothing.

use crate::harness::{TestEstate, actions};
use engine::checks::{CheckResult, CheckResults, CheckStatus};
use engine::plan::PlanMode;
use language::diagnostics::Diagnostics;

/// Every object with its result.
fn objects(results: &CheckResults) -> Vec<(String, &CheckResult)> {
    let mut found = Vec::new();
    for (block, result) in results {
        for (instance, result) in result.instances.iter().flatten() {
            found.push((block.address(instance), result));
        }
    }
    found
}

fn statuses(results: &CheckResults) -> Vec<(String, CheckStatus)> {
    objects(results).into_iter().map(|(address, result)| (address, result.status)).collect()
}

fn warnings(diagnostics: &Diagnostics) -> Vec<&str> {
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    diagnostics.iter().map(|d| d.summary.as_str()).collect()
}

const TEXT: &str = r#"
    resource "terraform_data" "a" { input = 5 }
    check "later" {
      assert {
        condition     = terraform_data.a.output == 6
        error_message = "it is ${terraform_data.a.output}"
      }
    }
    check "now" {
      assert {
        condition     = terraform_data.a.input == 5
        error_message = "never said"
      }
    }
"#;

#[tokio::test]
async fn what_is_unknown_while_planning_is_checked_after_apply() {
    let estate = TestEstate::new();
    let files = [("main.tf", TEXT)];
    let (_, plan, diagnostics) = estate.plan_in(&files, &[], PlanMode::Normal).await;
    assert_eq!(warnings(&diagnostics), ["Check block assertion known after apply"]);
    assert_eq!(
        statuses(&plan.checks),
        [("check.later".into(), CheckStatus::Unknown), ("check.now".into(), CheckStatus::Pass)]
    );
    let (_, applied, diagnostics) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    assert_eq!(warnings(&diagnostics), ["Check block assertion failed"]);
    assert_eq!(applied.ending, engine::Ending::Done);
    let applied = objects(&applied.checks);
    let (_, failed) = applied.iter().find(|(_, r)| r.status == CheckStatus::Fail).unwrap();
    assert_eq!(failed.problems, ["it is 5"]);
    assert!(estate.plan(TEXT).await.changes.is_empty());
}

#[tokio::test]
async fn an_assertion_that_cannot_be_evaluated_is_an_error() {
    let estate = TestEstate::new();
    let text = r#"
        variable "list" { default = ["x"] }
        check "c" {
          assert {
            condition     = var.list[3] == "x"
            error_message = "never said"
          }
        }
    "#;
    let (_, plan, diagnostics) = estate.plan_in(&[("main.tf", text)], &[], PlanMode::Normal).await;
    assert_eq!(diagnostics.iter().filter(|d| d.is_error()).count(), 1);
    assert_eq!(statuses(&plan.checks), [("check.c".into(), CheckStatus::Error)]);
}

#[tokio::test]
async fn a_data_source_that_cannot_be_read_fails_its_check_alone() {
    let estate = TestEstate::new();
    let text = r#"
        resource "terraform_data" "a" {}
        check "c" {
          data "terraform_remote_state" "s" {
            backend = "local"
            config  = { path = "nowhere" }
          }
          assert {
            condition     = data.terraform_remote_state.s.outputs.x == "y"
            error_message = "never said"
          }
        }
    "#;
    let files = [("main.tf", text)];
    let (plan, applied, diagnostics) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    assert_eq!(
        actions(&plan),
        [
            "terraform_data.a Create",
            "data.terraform_remote_state.s Read (read_because_check_nested)"
        ]
    );
    assert_eq!(statuses(&plan.checks), [("check.c".into(), CheckStatus::Fail)]);
    assert_eq!(warnings(&diagnostics).len(), 1);
    assert_eq!(applied.summary.add, 1);
    assert_eq!(statuses(&applied.checks), [("check.c".into(), CheckStatus::Fail)]);
}

#[tokio::test]
async fn modules_are_checked_instance_by_instance() {
    let estate = TestEstate::new();
    let root = r#"
        module "m" {
          source = "./m"
          count  = 2
          n      = count.index
        }
    "#;
    let child = r#"
        variable "n" {}
        check "first" {
          assert {
            condition     = var.n == 0
            error_message = "not the first"
          }
        }
    "#;
    let files = [("main.tf", root), ("m/main.tf", child)];
    let (_, plan, _) = estate.plan_in(&files, &[], PlanMode::Normal).await;
    assert_eq!(
        statuses(&plan.checks),
        [
            ("module.m[0].check.first".into(), CheckStatus::Pass),
            ("module.m[1].check.first".into(), CheckStatus::Fail)
        ]
    );
}

#[tokio::test]
async fn conditions_warn_where_nothing_is_about_to_change() {
    let estate = TestEstate::new();
    let text = r#"
        variable "v" { default = 1 }
        resource "terraform_data" "a" {
          input = 1
          lifecycle {
            precondition {
              condition     = var.v == 1
              error_message = "before"
            }
            postcondition {
              condition     = self.output == var.v
              error_message = "after"
            }
          }
        }
        output "o" {
          value = terraform_data.a.output
          precondition {
            condition     = var.v == 1
            error_message = "output"
          }
        }
    "#;
    estate.apply(text).await;
    let other = text.replace("default = 1", "default = 2");
    let files = [("main.tf", other.as_str())];
    let (_, _, diagnostics) = estate.plan_in(&files, &[], PlanMode::RefreshOnly).await;
    let mut warned = warnings(&diagnostics);
    warned.sort_unstable();
    assert_eq!(
        warned,
        [
            "Module output value precondition failed",
            "Resource postcondition failed",
            "Resource precondition failed",
        ]
    );
}

#[tokio::test]
async fn what_stays_as_it_is_is_checked_once_what_it_depends_on_has_changed() {
    let estate = TestEstate::new();
    let text = r#"
        variable "v" { default = 1 }
        resource "terraform_data" "changing" { input = var.v }
        resource "terraform_data" "staying" {
          for_each = toset(["x"])
          input    = "same"
          lifecycle {
            precondition {
              condition     = terraform_data.changing.output < 3 && each.value == "x"
              error_message = "it is ${terraform_data.changing.output}"
            }
          }
        }
    "#;
    let address = "terraform_data.staying[\"x\"]";
    estate.apply(text).await;
    let two = text.replace("default = 1", "default = 2");
    let files = [("main.tf", two.as_str())];
    let (plan, applied, diagnostics) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert_eq!(actions(&plan), ["terraform_data.changing Update"]);
    assert_eq!(statuses(&plan.checks), [(address.into(), CheckStatus::Unknown)]);
    assert_eq!(statuses(&applied.checks), [(address.into(), CheckStatus::Pass)]);
    let three = text.replace("default = 1", "default = 3");
    let files = [("main.tf", three.as_str())];
    let (_, applied, diagnostics) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    let errors: Vec<_> = diagnostics.iter().map(|d| (d.summary.as_str(), d.is_error())).collect();
    assert_eq!(errors, [("Resource precondition failed", true)]);
    let applied = objects(&applied.checks);
    let problems = vec!["it is 3".to_owned()];
    assert_eq!(applied, [(address.into(), &CheckResult { status: CheckStatus::Fail, problems })]);
}
