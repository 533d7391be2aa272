//! Objects that have another address in the configuration.

use crate::harness::{TestEstate, actions};
use engine::object::{ObjectStatus, StoredObject};
use engine::plan::{Plan, PlanMode};
use engine::recorder::{Recorder, Step};
use engine::state::InstanceState;
use std::sync::Arc;

/// `new address <- old address` of every instance that moves.
fn moves(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.resources.iter();
    changes
        .filter_map(|c| Some(format!("{} <- {}", c.address, c.previous_address.as_ref()?)))
        .collect()
}

fn addresses(estate: &TestEstate) -> Vec<String> {
    estate.state().instances.keys().map(ToString::to_string).collect()
}

/// Applies one text, then plans and applies another; the moves and what else is planned.
async fn moved(before: &str, after: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let estate = TestEstate::new();
    estate.apply(before).await;
    let plan = estate.plan(after).await;
    let planned = (moves(&plan), actions(&plan));
    estate.apply(after).await;
    let again = estate.plan(after).await;
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    (planned.0, planned.1, addresses(&estate))
}

#[tokio::test]
async fn a_resource_is_renamed_and_its_dependents_know() {
    let before = r#"
        resource "terraform_data" "a" { input = 1 }
        resource "terraform_data" "b" { input = terraform_data.a.output }
    "#;
    let after = r#"
        resource "terraform_data" "new" { input = 1 }
        resource "terraform_data" "b" { input = terraform_data.new.output }
        moved {
          from = terraform_data.a
          to   = terraform_data.new
        }
    "#;
    let estate = TestEstate::new();
    estate.apply(before).await;
    let id = estate.state().instances[&"terraform_data.a".parse().unwrap()].clone();
    let plan = estate.plan(after).await;
    assert_eq!(moves(&plan), ["terraform_data.new <- terraform_data.a"]);
    assert!(actions(&plan).is_empty());
    assert!(!plan.changes.is_empty(), "a move is something to apply");
    estate.apply(after).await;
    assert_eq!(addresses(&estate), ["terraform_data.b", "terraform_data.new"]);
    let state = estate.state();
    let now = &state.instances[&"terraform_data.new".parse().unwrap()];
    assert_eq!(now.current.as_ref().unwrap().attributes, id.current.as_ref().unwrap().attributes);
    let dependent = &state.instances[&"terraform_data.b".parse().unwrap()];
    let dependencies = &dependent.current.as_ref().unwrap().dependencies;
    assert_eq!(
        dependencies.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["terraform_data.new"]
    );
}

#[tokio::test]
async fn moved_and_changed_at_once() {
    let before = r#"resource "terraform_data" "a" { input = 1 }"#;
    let after = r#"
        resource "terraform_data" "b" { input = 2 }
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
    "#;
    let (moves, actions, addresses) = moved(before, after).await;
    assert_eq!(moves, ["terraform_data.b <- terraform_data.a"]);
    assert_eq!(actions, ["terraform_data.b Update"]);
    assert_eq!(addresses, ["terraform_data.b"]);
}

#[tokio::test]
async fn chains_and_keys() {
    let before = r#"
        resource "terraform_data" "a" { count = 2 }
    "#;
    let after = r#"
        resource "terraform_data" "c" { for_each = toset(["x", "y"]) }
        moved {
          from = terraform_data.b
          to   = terraform_data.c
        }
        moved {
          from = terraform_data.a[0]
          to   = terraform_data.b["x"]
        }
        moved {
          from = terraform_data.a[1]
          to   = terraform_data.b["y"]
        }
    "#;
    let (moves, actions, _) = moved(before, after).await;
    assert_eq!(
        moves,
        [
            "terraform_data.c[\"x\"] <- terraform_data.a[0]",
            "terraform_data.c[\"y\"] <- terraform_data.a[1]",
        ]
    );
    assert!(actions.is_empty(), "{actions:?}");
}

#[tokio::test]
async fn objects_that_move_up_one_after_another() {
    let before = r#"
        resource "terraform_data" "a" { input = "a" }
        resource "terraform_data" "b" { input = "b" }
    "#;
    let after = r#"
        resource "terraform_data" "b" { input = "a" }
        resource "terraform_data" "c" { input = "b" }
        moved {
          from = terraform_data.b
          to   = terraform_data.c
        }
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
    "#;
    let estate = TestEstate::new();
    estate.apply(before).await;
    // What moves is still declared: the statement cannot be meant so.
    assert_eq!(estate.errors(after).await, ["Moved object still exists"]);
}

#[tokio::test]
async fn an_added_or_removed_count_implies_a_move() {
    let one = r#"resource "terraform_data" "a" { input = 1 }"#;
    let counted = r#"
        resource "terraform_data" "a" {
          count = 1
          input = 1
        }
    "#;
    let (moves, actions, addresses) = moved(one, counted).await;
    assert_eq!(moves, ["terraform_data.a[0] <- terraform_data.a"]);
    assert!(actions.is_empty());
    assert_eq!(addresses, ["terraform_data.a[0]"]);
    let (moves, _, addresses) = moved(counted, one).await;
    assert_eq!(moves, ["terraform_data.a <- terraform_data.a[0]"]);
    assert_eq!(addresses, ["terraform_data.a"]);
}

const CHILD: &str = r#"
    resource "terraform_data" "r" { input = 1 }
"#;

#[tokio::test]
async fn modules_move_with_all_that_they_hold() {
    let estate = TestEstate::new();
    let before = [("main.tf", r#"module "m" { source = "./m" }"#), ("m/main.tf", CHILD)];
    estate.apply_in(&before, &[], PlanMode::Normal).await;
    let keyed = r#"
        module "n" {
          source   = "./m"
          for_each = toset(["k"])
        }
        moved {
          from = module.m
          to   = module.n["k"]
        }
    "#;
    let after = [("main.tf", keyed), ("m/main.tf", CHILD)];
    let (plan, _, diagnostics) = estate.apply_in(&after, &[], PlanMode::Normal).await;
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert_eq!(moves(&plan), ["module.n[\"k\"].terraform_data.r <- module.m.terraform_data.r"]);
    assert!(actions(&plan).is_empty());
    let out = r#"
        resource "terraform_data" "outside" { input = 1 }
        moved {
          from = module.n["k"].terraform_data.r
          to   = terraform_data.outside
        }
    "#;
    let after = [("main.tf", out), ("m/main.tf", CHILD)];
    let (plan, _, _) = estate.apply_in(&after, &[], PlanMode::Normal).await;
    assert_eq!(moves(&plan), ["terraform_data.outside <- module.n[\"k\"].terraform_data.r"]);
    assert_eq!(addresses(&estate), ["terraform_data.outside"]);
}

#[tokio::test]
async fn a_module_states_moves_for_each_of_its_instances() {
    let estate = TestEstate::new();
    let root = r#"
        module "m" {
          source = "./m"
          count  = 2
        }
    "#;
    let before = [("main.tf", root), ("m/main.tf", CHILD)];
    estate.apply_in(&before, &[], PlanMode::Normal).await;
    let renamed = r#"
        resource "terraform_data" "s" { input = 1 }
        moved {
          from = terraform_data.r
          to   = terraform_data.s
        }
    "#;
    let after = [("main.tf", root), ("m/main.tf", renamed)];
    let (plan, _, _) = estate.apply_in(&after, &[], PlanMode::Normal).await;
    assert_eq!(
        moves(&plan),
        [
            "module.m[0].terraform_data.s <- module.m[0].terraform_data.r",
            "module.m[1].terraform_data.s <- module.m[1].terraform_data.r",
        ]
    );
}

#[tokio::test]
async fn what_is_there_already_blocks_a_move() {
    let estate = TestEstate::new();
    let both = r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" {}
    "#;
    estate.apply(both).await;
    let after = r#"
        resource "terraform_data" "b" {}
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
    "#;
    let (_, plan, diagnostics) = estate.plan_in(&[("main.tf", after)], &[], PlanMode::Normal).await;
    assert_eq!(actions(&plan), ["terraform_data.a Delete (delete_because_no_resource_config)"]);
    let warning = diagnostics.iter().next().unwrap();
    assert_eq!(warning.summary, "Unresolved resource instance address changes");
    assert!(warning.detail.contains("terraform_data.a could not move to terraform_data.b"));
}

#[tokio::test]
async fn a_target_that_nothing_declares_is_deleted() {
    let estate = TestEstate::new();
    estate.apply(r#"resource "terraform_data" "a" {}"#).await;
    let after = r#"
        moved {
          from = terraform_data.a
          to   = terraform_data.gone
        }
    "#;
    let plan = estate.plan(after).await;
    assert_eq!(actions(&plan), ["terraform_data.gone Delete (delete_because_no_move_target)"]);
    let applied = estate.apply(after).await;
    assert_eq!(applied.summary.destroy, 1);
    assert!(estate.state().is_empty());
}

#[tokio::test]
async fn statements_that_contradict_each_other_are_refused() {
    let estate = TestEstate::new();
    let moved = |from: &str, to: &str| {
        format!("moved {{\n from = terraform_data.{from}\n to = terraform_data.{to}\n}}\n")
    };
    let declared = "resource \"terraform_data\" \"c\" {}\n".to_owned();
    let cases = [
        (moved("c", "c"), "Redundant move statement"),
        (moved("a", "c") + &moved("b", "c"), "Ambiguous move statements"),
        (moved("a", "c") + &moved("a", "d"), "Ambiguous move statements"),
        (moved("c", "d"), "Moved object still exists"),
        (moved("x", "y") + &moved("y", "x"), "Cyclic dependency in move statements"),
    ];
    for (statements, summary) in cases {
        assert_eq!(estate.errors(&(declared.clone() + &statements)).await, [summary]);
    }
}

#[tokio::test]
async fn a_refresh_only_plan_records_moves() {
    let estate = TestEstate::new();
    estate.apply(r#"resource "terraform_data" "a" { input = 1 }"#).await;
    let after = r#"
        resource "terraform_data" "b" { input = 2 }
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
    "#;
    let files = [("main.tf", after)];
    let (plan, _, _) = estate.apply_in(&files, &[], PlanMode::RefreshOnly).await;
    assert_eq!(plan.drift.len(), 1);
    assert_eq!(addresses(&estate), ["terraform_data.b"]);
    assert_eq!(actions(&estate.plan(after).await), ["terraform_data.b Update"]);
}

#[tokio::test]
async fn an_object_of_another_type_is_converted_by_its_new_provider() {
    let estate = TestEstate::new();
    let object = StoredObject {
        provider: "provider[\"registry.terraform.io/hashicorp/null\"]".parse().unwrap(),
        schema_version: 0,
        attributes: r#"{"id":"7","triggers":{"k":"v"}}"#.into(),
        sensitive_paths: Vec::new(),
        identity: None,
        private: Arc::default(),
        dependencies: Arc::default(),
        create_before_destroy: false,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    };
    let recorded = InstanceState { current: Some(object), ..InstanceState::default() };
    estate
        .records
        .write(&"null_resource.old".parse().unwrap(), &recorded, Step::Done)
        .await
        .unwrap();
    let text = r#"
        resource "terraform_data" "new" { triggers_replace = { k = "v" } }
        moved {
          from = null_resource.old
          to   = terraform_data.new
        }
    "#;
    let plan = estate.plan(text).await;
    assert_eq!(moves(&plan), ["terraform_data.new <- null_resource.old"]);
    assert!(actions(&plan).is_empty(), "{:?}", actions(&plan));
    estate.apply(text).await;
    let state = estate.state();
    assert_eq!(addresses(&estate), ["terraform_data.new"]);
    let now = &state.instances[&"terraform_data.new".parse().unwrap()];
    let now = now.current.as_ref().unwrap();
    assert!(now.attributes.contains("\"7\""), "{}", now.attributes);
    assert!(estate.plan(text).await.changes.is_empty());
}
