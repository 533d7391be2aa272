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
