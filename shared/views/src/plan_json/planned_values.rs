//! The state that a plan leads to, as far as it is known.

use crate::json::{Escape, Fields};
use crate::module_tree::ModuleTree;
use crate::plan_view::PlanView;
use crate::state_json::push_identity;
use crate::value_json::{Shape, known, sensitive, type_json};
use engine::changes::{Action, OutputChange, ResourceInstanceChange};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn push(view: &PlanView<'_>, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    let outputs = &view.plan.changes.outputs;
    if outputs.values().any(|o| o.action != Action::Delete) {
        push_outputs(outputs, &mut fields);
    }
    let remains = |c: &&ResourceInstanceChange| c.deposed.is_none() && c.action != Action::Delete;
    let mut changes: Vec<_> =
        view.changes().into_iter().filter(remains).map(|c| (c.address.to_string(), c)).collect();
    changes.sort_by(|a, b| a.0.cmp(&b.0));
    let mut tree = ModuleTree::root();
    for (_, change) in changes {
        tree.push(&change.address.module, change);
    }
    tree.write(fields.key("root_module"), &mut |change, out| push_resource(view, change, out));
    fields.end();
}

fn push_outputs(outputs: &BTreeMap<Arc<str>, OutputChange>, fields: &mut Fields<'_>) {
    let mut all = Fields::begin(fields.key("outputs"), Escape::Html);
    for (name, output) in outputs.iter().filter(|(_, o)| o.action != Action::Delete) {
        let mut one = Fields::begin(all.key(name), Escape::Html);
        one.bool("sensitive", output.sensitive);
        if output.after.is_wholly_known() {
            one.json("type", &type_json(&output.after.ty()));
            one.json("value", &known(&output.after));
        }
        one.end();
    }
    all.end();
}

fn push_resource(view: &PlanView<'_>, change: &ResourceInstanceChange, out: &mut String) {
    let resource = &change.address.resource;
    let schema = view.plan.schemas.get(&change.provider.provider, resource.mode, &resource.ty);
    let mut fields = Fields::begin(out, Escape::Html);
    push_identity(&change.address, &mut fields);
    fields.string("provider_name", &change.provider.provider.to_string());
    fields.raw("schema_version", schema.map_or(0, |s| s.version));
    if !change.after.is_null() {
        fields.json("values", &known(&change.after));
    }
    let shape = schema.map_or(Shape::Plain, |s| Shape::Block(&s.block));
    fields.json("sensitive_values", &sensitive(&change.after, shape));
    fields.end();
}
