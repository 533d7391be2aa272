//! Changes of resource instances and outputs.

use super::push_path;
use crate::json::{Escape, Fields, Json, write_array};
use crate::plan_view::{Import, PlanView, is_moved};
use crate::value_json::{Shape, index_json, known, sensitive, unknown};
use engine::changes::{Action, OutputChange, ResourceInstanceChange};
use values::Value;

pub(super) fn push(view: &PlanView<'_>, change: &ResourceInstanceChange, out: &mut String) {
    let address = &change.address;
    let mut fields = Fields::begin(out, Escape::Html);
    fields.string("address", &address.to_string());
    if let Some(previous) = change.previous_address.as_ref().filter(|_| is_moved(change)) {
        fields.string("previous_address", &previous.to_string());
    }
    if !address.module.is_root() {
        fields.string("module_address", &address.module.to_string());
    }
    fields.string("mode", address.resource.mode.as_str());
    fields.string("type", &address.resource.ty);
    fields.string("name", &address.resource.name);
    if let Some(index) = index_json(&address.key) {
        fields.json("index", &index);
    }
    fields.string("provider_name", &change.provider.provider.to_string());
    if let Some(key) = &change.deposed {
        fields.string("deposed", key.as_str());
    }
    push_change(view, change, fields.key("change"));
    if let Some(reason) = change.reason {
        fields.string("action_reason", reason.as_str());
    }
    fields.end();
}

fn push_change(view: &PlanView<'_>, change: &ResourceInstanceChange, out: &mut String) {
    let shape = view.block(change).map_or(Shape::Plain, Shape::Block);
    let mut fields = Fields::begin(out, Escape::Html);
    push_actions(change.action, &mut fields);
    fields.json("before", &known(&change.before));
    if change.after.is_known() {
        fields.json("after", &known(&change.after));
    }
    let after_unknown = match change.after.is_wholly_known() {
        true => Json::object::<&str>([]),
        false => unknown(&change.after),
    };
    fields.json("after_unknown", &after_unknown);
    fields.json("before_sensitive", &sensitive(&change.before, shape));
    fields.json("after_sensitive", &sensitive(&change.after, shape));
    if !change.requires_replace.is_empty() {
        write_array(&change.requires_replace, fields.key("replace_paths"), push_path);
    }
    if let Some(import) = view.import(change) {
        push_import(import, &mut fields);
    }
    fields.end();
}

fn push_import(import: &Import, fields: &mut Fields<'_>) {
    let mut importing = Fields::begin(fields.key("importing"), Escape::Html);
    if let Some(id) = &import.id {
        importing.string("id", id);
    }
    if let Some(identity) = &import.identity {
        importing.json("identity", &known(identity));
    }
    importing.end();
    if let Some(config) = &import.generated_config {
        fields.string("generated_config", config);
    }
}

pub(super) fn push_output(output: &OutputChange, out: &mut String) {
    let known_after = |value: &Value| value.is_known().then(|| known(value));
    let mut fields = Fields::begin(out, Escape::Html);
    push_actions(output.action, &mut fields);
    fields.json("before", &known(&output.before));
    if let Some(after) = known_after(&output.after) {
        fields.json("after", &after);
    }
    let after_unknown = match output.after.is_wholly_known() {
        true => Json::Bool(false),
        false => unknown(&output.after),
    };
    fields.json("after_unknown", &after_unknown);
    fields.bool("before_sensitive", output.sensitive);
    fields.bool("after_sensitive", output.sensitive);
    fields.end();
}

fn push_actions(action: Action, fields: &mut Fields<'_>) {
    let actions = action.as_json().iter().map(Json::string).collect();
    fields.json("actions", &Json::array(actions));
}
