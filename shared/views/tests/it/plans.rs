//! Plans of schemas that the recorded ones do not have, and plans that do nothing.

use crate::reader::read_plan;
use engine::plan::{Plan, PlanMode};
use serde_json::{Value as Json, json};
use values::Path;
use views::plan_text::{TextOptions, write_next_step, write_plan};
use views::{PlanView, RelevantAttribute};

fn schema() -> Json {
    let nested = |mode: &str| {
        json!({"nested_type": {"nesting_mode": mode, "attributes": {
            "key": {"type": "string", "required": true},
            "secret": {"type": "string", "optional": true, "sensitive": true},
            "size": {"type": "number", "computed": true},
        }}})
    };
    let block = |mode: &str| {
        json!({"nesting_mode": mode, "block": {"attributes": {
            "name": {"type": "string", "required": true},
            "port": {"type": "number", "optional": true},
        }}})
    };
    json!({"provider_schemas": {"registry.terraform.io/hashicorp/x": {"resource_schemas": {
        "x_vm": {"version": 2, "block": {
            "attributes": {
                "id": {"type": "string", "computed": true},
                "one": nested("single"),
                "list": nested("list"),
                "set": nested("set"),
                "map": nested("map"),
                "note": {"type": "string", "optional": true},
                "password": {"type": "string", "optional": true, "write_only": true},
            },
            "block_types": {"rule": block("set"), "named": block("map"), "only": block("single")},
        }},
    }}}})
}

fn object(values: Json) -> Json {
    let mut object = json!({"rule": [], "named": {}});
    object.as_object_mut().unwrap().extend(values.as_object().unwrap().clone());
    object
}

fn change(actions: Json, before: Json, after: Json, unknown: Json) -> Json {
    json!({
        "address": "x_vm.a", "mode": "managed", "type": "x_vm", "name": "a",
        "provider_name": "registry.terraform.io/hashicorp/x",
        "change": {"actions": actions, "before": before, "after": after, "after_unknown": unknown,
            "before_sensitive": {}, "after_sensitive": {}},
    })
}

fn plan(changes: Json, drift: Json) -> Plan {
    let plan = json!({
        "timestamp": "2026-01-01T00:00:00Z", "resource_changes": changes, "resource_drift": drift,
    });
    read_plan(&plan, &schema())
}

/// A plan that changes nothing.
pub(crate) fn empty_plan() -> Plan {
    plan(json!([]), json!([]))
}

fn text(view: &PlanView<'_>) -> String {
    let mut out = Vec::new();
    write_plan(view, TextOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn updated() -> Json {
    let before = object(json!({
        "id": "i-1", "note": "a\nb\n",
        "one": {"key": "k", "secret": "s1", "size": 1},
        "list": [{"key": "a", "size": 1}, {"key": "b", "size": 2}],
        "set": [{"key": "a", "size": 1}, {"key": "b", "size": 2}],
        "map": {"x y": {"key": "a", "size": 1}, "z": {"key": "c", "size": 3}},
        "rule": [{"name": "r1", "port": 1}, {"name": "r2", "port": 2}],
        "named": {"m 1": {"name": "n", "port": 1}},
        "only": {"name": "o", "port": 1},
    }));
    let after = object(json!({
        "id": "i-1", "note": "a\nc\n",
        "one": {"key": "k", "secret": "s2", "size": null},
        "list": [{"key": "a", "size": 1}],
        "set": [{"key": "b", "size": 2}, {"key": "c"}],
        "map": {"x y": {"key": "b", "size": 1}, "z": {"key": "c", "size": 3}},
        "rule": [{"name": "r1", "port": 1}, {"name": "r3", "port": 2}],
        "named": {"m 1": {"name": "n", "port": 2}, "m2": {"name": "p"}},
        "only": {"name": "o", "port": 1},
    }));
    let unknown = json!({"one": {"size": true}, "set": [{}, {"size": true}]});
    change(json!(["update"]), before, after, unknown)
}

#[test]
fn nested_attributes_and_blocks_are_compared() {
    let plan = plan(json!([updated()]), json!([]));
    let text = text(&PlanView::new(&plan));
    assert!(!text.contains("s1") && !text.contains("s2"));
    insta::assert_snapshot!(text);
}

#[test]
fn nested_attributes_and_blocks_are_created() {
    let mut created = updated();
    let c = &mut created["change"];
    c["actions"] = json!(["create"]);
    c["before"] = Json::Null;
    let plan = plan(json!([created]), json!([]));
    insta::assert_snapshot!(text(&PlanView::new(&plan)));
}

#[test]
fn drift_is_shown_where_it_matters() {
    let mut drifted = change(
        json!(["update"]),
        object(json!({"id": "i-1", "note": "old", "one": {"key": "k1"}})),
        object(json!({"id": "i-1", "note": "new", "one": {"key": "k2"}})),
        json!({}),
    );
    drifted["change"]["replace_paths"] = json!([["note"]]);
    let drift_plan = plan(json!([updated()]), json!([drifted]));
    let all = text(&PlanView::new(&drift_plan));
    insta::assert_snapshot!(all.split("Unless you have").next().unwrap());

    let mut view = PlanView::new(&drift_plan);
    let resource = drift_plan.drift[0].address.clone();
    view.relevant = Some(vec![RelevantAttribute { resource, path: Path::attribute("one") }]);
    let some = text(&view);
    assert!(some.contains("\"k1\" -> \"k2\"") && !some.contains("\"old\" -> \"new\""));

    view.relevant = Some(Vec::new());
    assert!(!text(&view).contains("outside of Plumbline"));

    let only_drift = Plan { mode: PlanMode::RefreshOnly, ..plan(json!([]), json!([drifted])) };
    insta::assert_snapshot!(text(&PlanView::new(&only_drift)));
    assert!(PlanView::new(&only_drift).is_applyable());
}

#[test]
fn a_plan_that_does_nothing_says_so() {
    let empty = plan(json!([]), json!([]));
    let of = |mode| Plan { mode, ..empty.clone() };
    let texts = [PlanMode::Normal, PlanMode::Destroy, PlanMode::RefreshOnly]
        .map(|mode| text(&PlanView::new(&of(mode))));
    let failed = Plan { complete: false, ..empty.clone() };
    let targeted = PlanView { targeted: true, ..PlanView::new(&empty) };
    insta::assert_snapshot!(
        [texts.concat(), text(&targeted), text(&PlanView::new(&failed))].concat()
    );
}

#[test]
fn the_next_step_is_suggested() {
    let mut out = Vec::new();
    write_next_step(None, None, TextOptions::default(), &mut out).unwrap();
    write_next_step(Some("my plan"), None, TextOptions::default(), &mut out).unwrap();
    let silent = TextOptions { in_automation: true, ..TextOptions::default() };
    write_next_step(None, None, silent, &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}
