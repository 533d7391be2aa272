//! What becomes of objects whose block is gone, where `removed` says so.

use crate::harness::{TestEstate, actions};
use engine::plan::PlanMode;

const BEFORE: &str = r#"
    resource "terraform_data" "a" {}
    resource "terraform_data" "b" {}
"#;

fn removed(destroy: bool) -> String {
    format!(
        r#"
        resource "terraform_data" "b" {{}}
        removed {{
          from = terraform_data.a
          lifecycle {{ destroy = {destroy} }}
        }}
    "#
    )
}

#[tokio::test]
async fn an_object_is_forgotten_and_named() {
    let estate = TestEstate::new();
    estate.apply(BEFORE).await;
    let text = removed(false);
    let (_, plan, diagnostics) = estate.plan_in(&[("main.tf", &text)], &[], PlanMode::Normal).await;
    assert_eq!(actions(&plan), ["terraform_data.a Forget (delete_because_no_resource_config)"]);
    let warning = diagnostics.iter().next().unwrap();
    assert_eq!(warning.summary, "Some objects will no longer be managed by Plumbline");
    assert!(warning.detail.contains("\n - terraform_data.a\n"), "{}", warning.detail);
    let applied = estate.apply(&text).await;
    assert_eq!((applied.summary.destroy, applied.summary.forget), (0, 1));
    assert_eq!(estate.state().instances.len(), 1);
}

#[tokio::test]
async fn an_object_is_destroyed_where_the_block_says_so() {
    let estate = TestEstate::new();
    estate.apply(BEFORE).await;
    let applied = estate.apply(&removed(true)).await;
    assert_eq!((applied.summary.destroy, applied.summary.forget), (1, 0));
}

#[tokio::test]
async fn a_module_is_forgotten_with_all_that_it_holds() {
    let estate = TestEstate::new();
    let inner = r#"resource "terraform_data" "r" { count = 2 }"#;
    let outer = r#"module "inner" { source = "../inner" }"#;
    let before = [
        ("main.tf", r#"module "m" { source = "./m" }"#),
        ("m/main.tf", outer),
        ("inner/main.tf", inner),
    ];
    estate.apply_in(&before, &[], PlanMode::Normal).await;
    let after = r#"
        removed {
          from = module.m
          lifecycle { destroy = false }
        }
    "#;
    let applied = estate.apply(after).await;
    assert_eq!((applied.summary.destroy, applied.summary.forget), (0, 2));
    assert!(estate.state().is_empty());
}

#[tokio::test]
async fn what_is_still_declared_is_not_removed() {
    let estate = TestEstate::new();
    let text = BEFORE.to_owned() + &removed(false).replace("\"b\"", "\"c\"");
    assert_eq!(estate.errors(&text).await, ["Removed resource still exists"]);
}
