//! Planning some resources alone.

use crate::harness::{TestEstate, actions};
use engine::plan::{Plan, PlanMode};
use engine::{PlanOptions, Target};
use language::diagnostics::Diagnostics;
use values::Value;

async fn targeted(
    estate: &TestEstate,
    text: &str,
    targets: &[&str],
    mode: PlanMode,
) -> (Plan, Diagnostics) {
    let targets = targets.iter().map(|target| target.parse().unwrap()).collect();
    let options = PlanOptions { mode, targets, ..PlanOptions::default() };
    let (_, plan, diagnostics) = estate.plan_with(&[("main.tf", text)], &[], options).await;
    (plan, diagnostics)
}

const CHAIN: &str = r#"
    resource "terraform_data" "a" { input = "a" }
    resource "terraform_data" "b" { input = terraform_data.a.output }
    resource "terraform_data" "c" { input = terraform_data.b.output }
    resource "terraform_data" "other" { count = 2 }
    output "of_b" { value = terraform_data.b.input }
    output "of_c" { value = terraform_data.c.input }
    output "of_none" { value = 1 }
"#;

#[tokio::test]
async fn a_target_is_planned_with_what_it_depends_on() {
    let estate = TestEstate::new();
    let (plan, diagnostics) =
        targeted(&estate, CHAIN, &["terraform_data.b"], PlanMode::Normal).await;
    let summaries: Vec<_> = diagnostics.iter().map(|d| d.summary.as_str()).collect();
    assert_eq!(summaries, ["Resource targeting is in effect"]);
    assert_eq!(actions(&plan), ["terraform_data.a Create", "terraform_data.b Create"]);
    assert_eq!(plan.changes.outputs.keys().map(|k| &**k).collect::<Vec<_>>(), ["of_b"]);
    let (plan, _) = targeted(&estate, CHAIN, &["terraform_data.other[1]"], PlanMode::Normal).await;
    assert_eq!(actions(&plan), ["terraform_data.other[1] Create"]);
}

#[tokio::test]
async fn what_is_not_planned_stays_recorded() {
    let estate = TestEstate::new();
    estate.apply(CHAIN).await;
    let text = r#"
        resource "terraform_data" "other" {
          count = 2
          input = "new"
        }
        output "of_c" { value = terraform_data.other[0].input }
    "#;
    let targets = ["terraform_data.other[0]".parse().unwrap()].to_vec();
    let options = PlanOptions { targets, ..PlanOptions::default() };
    let applied = estate.apply_with(&[("main.tf", text)], &[], options).await;
    assert_eq!((applied.summary.change, applied.summary.destroy), (1, 0));
    let state = estate.state();
    assert_eq!(state.instances.len(), 5);
    assert_eq!(state.outputs["of_b"].value, Value::string("a"));
    assert_eq!(state.outputs["of_c"].value, Value::string("new"));
}

#[tokio::test]
async fn what_depends_on_a_deleted_target_is_deleted_too() {
    let estate = TestEstate::new();
    estate.apply(CHAIN).await;
    let (plan, _) = targeted(&estate, CHAIN, &["terraform_data.b"], PlanMode::Destroy).await;
    assert_eq!(actions(&plan), ["terraform_data.b Delete", "terraform_data.c Delete"]);
}

#[tokio::test]
async fn both_ends_of_a_move_are_planned_or_none() {
    let estate = TestEstate::new();
    estate.apply(CHAIN).await;
    let text = CHAIN.replace("\"other\" { count = 2 }", "\"new\" { count = 2 }")
        + "moved {\n from = terraform_data.other\n to = terraform_data.new\n}";
    let (_, diagnostics) =
        targeted(&estate, &text, &["terraform_data.new"], PlanMode::Normal).await;
    let error = diagnostics.iter().find(|d| d.is_error()).unwrap();
    assert_eq!(error.summary, "Moved resource instances excluded by targeting");
    assert!(error.detail.contains("\n  -target=\"terraform_data.other\"\n"), "{}", error.detail);
    let both = ["terraform_data.new", "terraform_data.other"];
    let (plan, diagnostics) = targeted(&estate, &text, &both, PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(plan.moves.len(), 2);
}

#[tokio::test]
async fn the_last_step_of_a_module_needs_no_key() {
    let estate = TestEstate::new();
    let files = [
        ("main.tf", "module \"a\" {\n  source = \"./a\"\n  count = 2\n}"),
        ("a/main.tf", "module \"b\" {\n  source = \"./b\"\n  count = 2\n}"),
        ("a/b/main.tf", "resource \"terraform_data\" \"x\" {}"),
    ];
    let planned = async |target: &str| {
        let targets = vec![target.parse().unwrap()];
        let options = PlanOptions { targets, ..PlanOptions::default() };
        let (_, plan, diagnostics) = estate.plan_with(&files, &[], options).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        plan.changes.resources.iter().map(|c| c.address.module.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        planned("module.a[1].module.b").await,
        ["module.a[1].module.b[0]", "module.a[1].module.b[1]"]
    );
    assert_eq!(planned("module.a").await.len(), 4);
    assert_eq!(planned("module.a.module.b").await, Vec::<String>::new());
}

#[test]
fn a_reserved_word_is_no_type_of_a_target() {
    assert!("var.x".parse::<Target>().is_err());
    assert!("module.a.local.x".parse::<Target>().is_err());
    assert!("resource.var.x".parse::<Target>().is_ok());
}
