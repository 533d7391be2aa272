//! Objects that exist already and are taken over.

use crate::harness::{TestEstate, actions};
use engine::plan::PlanMode;
use values::Value;

const TEXT: &str = r#"
    resource "terraform_data" "a" {}
    import {
      to = terraform_data.a
      id = "known"
    }
"#;

#[tokio::test]
async fn an_object_is_recorded_though_nothing_changes() {
    let estate = TestEstate::new();
    let plan = estate.plan(TEXT).await;
    assert!(actions(&plan).is_empty());
    let imports: Vec<_> = plan.imports.iter().map(|(a, id)| (a.to_string(), &**id)).collect();
    assert_eq!(imports, [("terraform_data.a".to_owned(), "known")]);
    let applied = estate.apply(TEXT).await;
    assert_eq!((applied.summary.import, applied.summary.add), (1, 0));
    let state = estate.state();
    let recorded = &state.instances[&"terraform_data.a".parse().unwrap()];
    assert!(recorded.current.as_ref().unwrap().attributes.contains("\"known\""));
    let again = estate.plan(TEXT).await;
    assert!(again.imports.is_empty() && again.changes.is_empty());
}

#[tokio::test]
async fn an_object_is_imported_and_changed_at_once() {
    let estate = TestEstate::new();
    let text = TEXT.replace("{}", "{ input = 1 }");
    assert_eq!(actions(&estate.plan(&text).await), ["terraform_data.a Update"]);
    let applied = estate.apply(&text).await;
    assert_eq!((applied.summary.import, applied.summary.change), (1, 1));
    let text = estate.plan(&text).await;
    assert!(text.changes.is_empty());
}

#[tokio::test]
async fn one_block_imports_many_objects_under_computed_keys() {
    let estate = TestEstate::new();
    let text = r#"
        locals { known = { a = "one", b = "two" } }
        resource "terraform_data" "r" { for_each = local.known }
        import {
          for_each = local.known
          to       = terraform_data.r[each.key]
          id       = each.value
        }
    "#;
    let plan = estate.plan(text).await;
    let imports: Vec<_> = plan.imports.iter().map(|(a, id)| format!("{a} {id}")).collect();
    assert_eq!(imports, ["terraform_data.r[\"a\"] one", "terraform_data.r[\"b\"] two"]);
}

#[tokio::test]
async fn an_object_is_imported_into_a_module() {
    let estate = TestEstate::new();
    let root = r#"
        module "m" {
          source = "./m"
          count  = 1
        }
        import {
          to = module.m[0].terraform_data.r
          id = "known"
        }
    "#;
    let files = [("main.tf", root), ("m/main.tf", r#"resource "terraform_data" "r" {}"#)];
    let (plan, applied, _) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    assert_eq!(plan.imports.len(), 1);
    assert_eq!(applied.summary.import, 1);
}

#[tokio::test]
async fn identifiers_must_be_known_texts() {
    let estate = TestEstate::new();
    let with = |id: &str| TEXT.replace("\"known\"", id);
    for id in ["\"\"", "null", "sensitive(\"x\")", "[]"] {
        assert_eq!(estate.errors(&with(id)).await, ["Invalid import id argument"], "{id}");
    }
    let unknown = with("terraform_data.other.id") + "resource \"terraform_data\" \"other\" {}";
    assert_eq!(estate.errors(&unknown).await, ["Invalid import id argument"]);
}

#[tokio::test]
async fn targets_must_be_declared() {
    let estate = TestEstate::new();
    let missing = "Configuration for import target does not exist";
    let nothing = TEXT.replace("resource \"terraform_data\" \"a\" {}", "");
    assert_eq!(estate.errors(&nothing).await, [missing]);
    let beyond = r#"
        resource "terraform_data" "a" { count = 1 }
        import {
          to = terraform_data.a[7]
          id = "x"
        }
    "#;
    assert_eq!(estate.errors(beyond).await, [missing]);
}

#[tokio::test]
async fn a_destroy_plan_imports_nothing() {
    let estate = TestEstate::new();
    let (_, plan, _) = estate
        .plan_in(&[("main.tf", TEXT)], &[("unused", Value::bool(true))][..0], PlanMode::Destroy)
        .await;
    assert!(plan.imports.is_empty() && plan.changes.is_empty());
}
