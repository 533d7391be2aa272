//! Replacement because a person asked for it.

use crate::harness::{TestEstate, actions};
use engine::PlanOptions;
use engine::plan::PlanMode;
use language::diagnostics::Diagnostics;

const TEXT: &str = r#"
    resource "terraform_data" "a" { input = 1 }
    resource "terraform_data" "c" { count = 2 }
"#;

async fn replaced(
    estate: &TestEstate,
    addresses: &[&str],
    mode: PlanMode,
) -> (Vec<String>, Diagnostics) {
    let replace = addresses.iter().map(|a| a.parse().unwrap()).collect();
    let options = PlanOptions { mode, replace, ..PlanOptions::default() };
    let (_, plan, diagnostics) = estate.plan_with(&[("main.tf", TEXT)], &[], options).await;
    (actions(&plan), diagnostics)
}

#[tokio::test]
async fn the_named_instances_are_replaced_and_no_others() {
    let estate = TestEstate::new();
    estate.apply(TEXT).await;
    let names = ["terraform_data.a", "terraform_data.c[1]"];
    let (actions, diagnostics) = replaced(&estate, &names, PlanMode::Normal).await;
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert_eq!(
        actions,
        [
            "terraform_data.a DeleteThenCreate (replace_by_request)",
            "terraform_data.c[1] DeleteThenCreate (replace_by_request)",
        ]
    );
}

#[tokio::test]
async fn an_address_without_the_key_matches_nothing_and_says_so() {
    let estate = TestEstate::new();
    estate.apply(TEXT).await;
    let (actions, diagnostics) = replaced(&estate, &["terraform_data.c"], PlanMode::Normal).await;
    assert!(actions.is_empty(), "{actions:?}");
    let warning = diagnostics.iter().next().unwrap();
    assert_eq!(warning.summary, "Incompletely-matched force-replace resource instance");
    assert!(warning.detail.contains("-replace=\"terraform_data.c[1]\""), "{}", warning.detail);
}

#[tokio::test]
async fn only_a_normal_plan_replaces() {
    let estate = TestEstate::new();
    estate.apply(TEXT).await;
    let (_, diagnostics) = replaced(&estate, &["terraform_data.a"], PlanMode::Destroy).await;
    assert!(diagnostics.iter().any(|d| d.is_error() && d.summary == "Unsupported plan mode"));
}

#[tokio::test]
async fn a_request_in_one_module_says_nothing_of_others() {
    let estate = TestEstate::new();
    let files = [
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n  count = 2\n}"),
        ("m/main.tf", "resource \"terraform_data\" \"x\" {}"),
    ];
    estate.apply_in(&files, &[], PlanMode::Normal).await;
    let replace = vec!["module.m[1].terraform_data.x".parse().unwrap()];
    let options = PlanOptions { replace, ..PlanOptions::default() };
    let (_, plan, diagnostics) = estate.plan_with(&files, &[], options).await;
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert_eq!(
        actions(&plan),
        ["module.m[1].terraform_data.x DeleteThenCreate (replace_by_request)"]
    );
}

#[tokio::test]
async fn what_is_made_triggers_no_replacement() {
    let estate = TestEstate::new();
    let text = |count: u32, input: u32| {
        format!(
            r#"
            resource "terraform_data" "source" {{
              count = {count}
              input = {input}
            }}
            resource "terraform_data" "triggered" {{
              lifecycle {{ replace_triggered_by = [terraform_data.source] }}
            }}
            "#
        )
    };
    estate.apply(&text(1, 1)).await;
    let plan = estate.plan(&text(2, 1)).await;
    assert_eq!(actions(&plan), ["terraform_data.source[1] Create"]);
    let plan = estate.plan(&text(1, 2)).await;
    assert_eq!(
        actions(&plan),
        [
            "terraform_data.source[0] Update",
            "terraform_data.triggered DeleteThenCreate (replace_by_triggers)",
        ]
    );
}

#[tokio::test]
async fn splats_trigger_no_replacement() {
    let text = r#"
        resource "terraform_data" "source" { count = 2 }
        resource "terraform_data" "triggered" {
          lifecycle { replace_triggered_by = [terraform_data.source[*].id] }
        }
    "#;
    let errors = TestEstate::new().errors(text).await;
    assert_eq!(errors, ["Invalid replace_triggered_by expression"]);
}

#[tokio::test]
async fn what_stays_as_it_is_after_all_is_not_changed() {
    let estate = TestEstate::new();
    let text = r#"
        resource "terraform_data" "a" { input = 1 }
        resource "terraform_data" "b" { input = terraform_data.a.output }
    "#;
    estate.apply(text).await;
    let replace = vec!["terraform_data.a".parse().unwrap()];
    let options = PlanOptions { replace, ..PlanOptions::default() };
    let (_, plan, _) = estate.plan_with(&[("main.tf", text)], &[], options.clone()).await;
    assert!(actions(&plan).contains(&"terraform_data.b Update".to_owned()), "{plan:#?}");
    let applied = estate.apply_with(&[("main.tf", text)], &[], options).await;
    let summary = applied.summary;
    assert_eq!((summary.add, summary.change, summary.destroy), (1, 0, 1));
    assert!(actions(&estate.plan(text).await).is_empty());
}

#[tokio::test]
async fn a_plan_whose_deletions_wait_for_each_other_is_refused() {
    let estate = TestEstate::new();
    let before = r#"
        resource "terraform_data" "b" { triggers_replace = 1 }
        resource "terraform_data" "a" {
          triggers_replace = terraform_data.b.id
          lifecycle { create_before_destroy = true }
        }
    "#;
    estate.apply(before).await;
    let errors = estate.errors("resource \"terraform_data\" \"b\" { triggers_replace = 2 }").await;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("Cycle: "), "{errors:?}");
}
