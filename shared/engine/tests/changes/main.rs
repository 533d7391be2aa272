//! What is planned and applied, in the engine's own terms.
#![allow(clippy::unwrap_used, missing_docs)]

mod checks;
mod doubles;
mod ephemeral;
mod harness;
mod importing;
mod moving;
mod reads;
mod removing;
mod replacing;
mod schematic;
mod targeting;
mod tokens;

use engine::changes::Action;
use engine::plan::PlanMode;
use harness::{TestEstate, actions};
use std::sync::Arc;
use values::{Type, Value};

#[tokio::test]
async fn create_update_nothing_delete() {
    let estate = TestEstate::new();
    let text = r#"
        resource "terraform_data" "a" { input = "one" }
        resource "terraform_data" "b" { input = terraform_data.a.output }
        output "o" { value = terraform_data.b.output }
    "#;
    let plan = estate.plan(text).await;
    assert_eq!(actions(&plan), ["terraform_data.a Create", "terraform_data.b Create"]);
    let applied = estate.apply(text).await;
    assert_eq!((applied.summary.add, applied.summary.destroy), (2, 0));
    let outputs = applied.outputs.unwrap();
    assert_eq!(outputs.get("o"), Some(&Value::string("one")));
    let plan = estate.plan(text).await;
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    let changed = text.replace("one", "two");
    let plan = estate.plan(&changed).await;
    assert_eq!(actions(&plan), ["terraform_data.a Update", "terraform_data.b Update"]);
    estate.apply(&changed).await;
    assert_eq!(estate.state().outputs["o"].value, Value::string("two"));
    let (_, applied, diagnostics) =
        estate.apply_in(&[("main.tf", &changed)], &[], PlanMode::Destroy).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(applied.summary.destroy, 2);
    assert!(estate.state().is_empty());
}

#[tokio::test]
async fn expansion_and_what_is_beyond_it() {
    let estate = TestEstate::new();
    let text = r#"
        resource "terraform_data" "c" {
          count = 3
          input = count.index
        }
        resource "terraform_data" "f" {
          for_each = toset(["x", "y"])
          input    = "${each.key}-${terraform_data.c[1].output}"
        }
    "#;
    estate.apply(text).await;
    assert_eq!(estate.state().instances.len(), 5);
    let fewer = text.replace("count = 3", "count = 2").replace("\"x\", \"y\"", "\"y\"");
    assert_eq!(
        actions(&estate.plan(&fewer).await),
        [
            "terraform_data.c[2] Delete (delete_because_count_index)",
            "terraform_data.f[\"x\"] Delete (delete_because_each_key)",
        ]
    );
    assert_eq!(
        actions(&estate.plan("").await).first().unwrap(),
        "terraform_data.c[0] Delete (delete_because_no_resource_config)"
    );
}

#[tokio::test]
async fn replacement_in_both_orders() {
    for (order, action) in [("false", "DeleteThenCreate"), ("true", "CreateThenDelete")] {
        let estate = TestEstate::new();
        let text = format!(
            r#"
            resource "terraform_data" "a" {{
              triggers_replace = "one"
              lifecycle {{ create_before_destroy = {order} }}
            }}
            resource "terraform_data" "b" {{ input = terraform_data.a.id }}
        "#
        );
        estate.apply(&text).await;
        let before = estate.state();
        let changed = text.replace("one", "two");
        let plan = estate.plan(&changed).await;
        assert_eq!(
            actions(&plan),
            [
                format!("terraform_data.a {action} (replace_because_cannot_update)"),
                "terraform_data.b Update".to_owned()
            ]
        );
        let applied = estate.apply(&changed).await;
        assert_eq!(
            (applied.summary.add, applied.summary.change, applied.summary.destroy),
            (1, 1, 1)
        );
        let a = "terraform_data.a".parse().unwrap();
        let (old, new) = (&before.instances[&a], &estate.state().instances[&a]);
        assert_ne!(old.current, new.current);
        assert!(new.deposed.is_empty());
        assert!(estate.plan(&changed).await.changes.is_empty());
    }
}

#[tokio::test]
async fn modules_with_instances() {
    let estate = TestEstate::new();
    let files = [
        (
            "main.tf",
            r#"
            variable "names" { type = set(string) }
            module "m" {
              source   = "./m"
              for_each = var.names
              name     = each.key
            }
            output "all" { value = { for k, m in module.m : k => m.id_and_name } }
        "#,
        ),
        (
            "m/main.tf",
            r#"
            variable "name" { type = string }
            resource "terraform_data" "r" { input = var.name }
            output "id_and_name" { value = "${terraform_data.r.output}!" }
        "#,
        ),
    ];
    let names = |names: &[&str]| {
        let items = names.iter().map(Value::string).collect();
        [("names", Value::set(values::Type::String, items))]
    };
    let (_, applied, diagnostics) =
        estate.apply_in(&files, &names(&["a", "b"]), PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    let outputs = applied.outputs.unwrap();
    assert_eq!(
        outputs.get("all"),
        Some(&Value::object([("a", Value::string("a!")), ("b", Value::string("b!"))]))
    );
    let (_, plan, diagnostics) = estate.plan_in(&files, &names(&["b"]), PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(
        actions(&plan),
        ["module.m[\"a\"].terraform_data.r Delete (delete_because_no_module)"]
    );
}

#[tokio::test]
async fn lifecycle() {
    let estate = TestEstate::new();
    let text = r#"
        resource "terraform_data" "kept" {
          input = "one"
          lifecycle { ignore_changes = [input] }
        }
        resource "terraform_data" "guarded" {
          triggers_replace = "one"
          lifecycle { prevent_destroy = true }
        }
        resource "terraform_data" "follows" {
          lifecycle { replace_triggered_by = [terraform_data.source.input] }
        }
        resource "terraform_data" "source" { input = "one" }
    "#;
    estate.apply(text).await;
    let (kept, rest) = text.split_once("resource \"terraform_data\" \"guarded\"").unwrap();
    let changed =
        format!("{}resource \"terraform_data\" \"guarded\"{rest}", kept.replace("one", "two"));
    assert!(estate.plan(&changed).await.changes.is_empty());
    let changed = text.replace("\"source\" { input = \"one\" }", "\"source\" { input = \"two\" }");
    assert_eq!(
        actions(&estate.plan(&changed).await),
        [
            "terraform_data.follows DeleteThenCreate (replace_by_triggers)",
            "terraform_data.source Update",
        ]
    );
    let changed = text.replace("triggers_replace = \"one\"", "triggers_replace = \"two\"");
    assert_eq!(estate.errors(&changed).await, ["Instance cannot be destroyed"]);
    // The guard is remembered when the block is gone.
    assert_eq!(estate.errors("").await, ["Instance cannot be destroyed"]);
}

#[tokio::test]
async fn conditions_and_sensitivity() {
    let estate = TestEstate::new();
    assert_eq!(
        estate
            .errors(
                r#"locals { allowed = false }
                resource "terraform_data" "a" {
                  input = "x"
                  lifecycle {
                    precondition {
                      condition     = local.allowed
                      error_message = "No."
                    }
                  }
                }"#
            )
            .await,
        ["Resource precondition failed"]
    );
    assert_eq!(
        estate.errors(r#"output "o" { value = sensitive("x") }"#).await,
        ["Output refers to sensitive values"]
    );
    let text = r#"
        resource "terraform_data" "a" { input = sensitive("hidden") }
        output "o" {
          value     = terraform_data.a.output
          sensitive = true
        }
    "#;
    estate.apply(text).await;
    let plan = estate.plan(text).await;
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    let state = estate.state();
    let object = state.instances[&"terraform_data.a".parse().unwrap()].current.clone().unwrap();
    assert_eq!(object.sensitive_paths.len(), 1);
}

#[tokio::test]
async fn cycles_and_undeclared_names_are_refused() {
    let estate = TestEstate::new();
    let errors = estate
        .errors(
            r#"
            locals {
              a = local.b
              b = local.a
            }
        "#,
        )
        .await;
    assert!(errors.iter().any(|e| e.starts_with("Cycle: local.")), "{errors:?}");
    let errors =
        estate.errors(r#"resource "terraform_data" "a" { input = terraform_data.b.id }"#).await;
    assert_eq!(errors, ["Reference to undeclared resource"]);
    let errors =
        estate.errors(r#"resource "terraform_data" "a" { input = terraform_data.a.id }"#).await;
    assert_eq!(errors, ["Self-referential block"]);
}

#[tokio::test]
async fn a_plan_of_many_is_applied_whole() {
    let estate = TestEstate::new();
    let text: String = (0..300)
        .map(|i| match i {
            0 => "resource \"terraform_data\" \"r0\" { input = 0 }\n".to_owned(),
            i => format!(
                "resource \"terraform_data\" \"r{i}\" {{ input = terraform_data.r{}.output }}\n",
                i - 1
            ),
        })
        .collect();
    let applied = estate.apply(&text).await;
    assert_eq!(applied.summary.add, 300);
    assert!(estate.plan(&text).await.changes.is_empty());
    let state = estate.state();
    let last: Arc<_> = state.instances[&"terraform_data.r299".parse().unwrap()].clone();
    assert_eq!(last.current.as_ref().unwrap().dependencies.len(), 1);
}

#[tokio::test]
async fn an_output_that_is_null_is_planned_and_not_recorded() {
    let estate = TestEstate::new();
    let text = "output \"o\" { value = null }";
    let plan = estate.plan(text).await;
    assert_eq!(plan.changes.outputs["o"].action, Action::NoOp);
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    estate.apply(text).await;
    assert!(estate.state().outputs.is_empty());
}

#[tokio::test]
async fn what_an_output_makes_of_nothing_is_null() {
    let estate = TestEstate::new();
    let one = "resource \"terraform_data\" \"a\" { input = 1 }\n";
    estate.apply(one).await;
    let text = format!(
        "{one}resource \"terraform_data\" \"b\" {{ input = 2 }}\n{}\n{}",
        "output \"o\" { value = [terraform_data.a.output, terraform_data.b.id] }",
        "output \"p\" { value = terraform_data.b.id }"
    );
    let files = [("main.tf", text.as_str())];
    let (_, _, diagnostics) = estate.apply_in(&files, &[], PlanMode::RefreshOnly).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    let output = estate.state().outputs["o"].value.clone();
    let items = output.as_slice().unwrap();
    assert_eq!(items[0], Value::number(1_i64));
    assert_eq!(items[1], Value::null(Type::String), "what is not there has its type");
    assert_eq!(estate.state().outputs["p"].value, Value::null(Type::String));
}

#[tokio::test]
async fn an_index_at_the_end_of_what_is_ignored_is_for_maps() {
    let estate = TestEstate::new();
    let text = |kept: &str, ignored: &str| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              input = {{ x = "{kept}", y = "{kept}" }}
              lifecycle {{ ignore_changes = [{ignored}] }}
            }}
            "#
        )
    };
    estate.apply(&text("1", "input.x")).await;
    let after = async |ignored: &str| {
        let plan = estate.plan(&text("2", ignored)).await;
        let input = plan.changes.resources[0].after.attribute("input").unwrap();
        let of = |name: &str| input.attribute(name).unwrap().as_str().unwrap().to_owned();
        (of("x"), of("y"))
    };
    assert_eq!(after("input.x").await, ("1".into(), "2".into()));
    assert_eq!(after("input[\"x\"]").await, ("1".into(), "1".into()), "an object is kept whole");
}

#[tokio::test]
async fn an_attribute_that_is_ignored_is_no_element_of_a_map() {
    let estate = TestEstate::new();
    let text = |value: &str, ignored: &str| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              input = tomap({{ k = "{value}" }})
              lifecycle {{ ignore_changes = [{ignored}] }}
            }}
            "#
        )
    };
    estate.apply(&text("1", "input.k")).await;
    assert_eq!(actions(&estate.plan(&text("2", "input[\"k\"]")).await), [""; 0]);
    assert_eq!(actions(&estate.plan(&text("2", "input.k")).await), ["terraform_data.a Update"]);
}

#[tokio::test]
async fn an_output_of_a_module_is_waited_for_alone() {
    let estate = TestEstate::new();
    let root = r#"
        module "m" {
          source = "./m"
          id     = terraform_data.a.id
        }
        resource "terraform_data" "a" { depends_on = [module.m.first] }
    "#;
    let child = r#"
        variable "id" {}
        resource "terraform_data" "first" {}
        resource "terraform_data" "last" { input = var.id }
        output "first" { value = terraform_data.first.id }
    "#;
    let files = [("main.tf", root), ("m/main.tf", child)];
    let (_, applied, diagnostics) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(applied.summary.add, 3);
}
