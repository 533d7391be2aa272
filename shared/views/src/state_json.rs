//! A state as programs read it: format version 1.0 of Terraform's state representation.

use crate::checks::checks_json;
use crate::json::{Escape, Fields, write_array};
use crate::module_tree::ModuleTree;
use crate::product::TERRAFORM_VERSION;
use crate::shown_state::{Dependencies, ShownInstance, ShownState};
use crate::value_json::{Shape, index_json, known, sensitive, type_json};
use engine::object::{DeposedKey, Object, ObjectStatus};
use std::io::{self, Write};
use values::Value;
use values::address::{ResourceInstance, ResourceMode};

/// Version of the representation.
pub const FORMAT_VERSION: &str = "1.0";

/// Writes a state and a newline.
///
/// # Errors
/// Those of the writer.
pub fn write_state(state: &ShownState, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    push_state(state, &mut text);
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// Writes that there is no state.
///
/// # Errors
/// Those of the writer.
pub fn write_no_state(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"format_version\":\"{FORMAT_VERSION}\"}}")
}

pub(crate) fn push_state(state: &ShownState, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    fields.string("format_version", FORMAT_VERSION);
    if !state.is_empty() {
        fields.string("terraform_version", TERRAFORM_VERSION);
        push_values(state, fields.key("values"));
        if let Some(checks) = checks_json(&state.checks) {
            fields.json("checks", &checks);
        }
    }
    fields.end();
}

fn push_values(state: &ShownState, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    if !state.outputs.is_empty() {
        let mut outputs = Fields::begin(fields.key("outputs"), Escape::Html);
        for (name, value) in &state.outputs {
            push_output(value, outputs.key(name));
        }
        outputs.end();
    }
    let mut tree = ModuleTree::root();
    for instance in state.sorted() {
        for (deposed, object) in instance.objects() {
            tree.push(&instance.address.module, (instance, deposed, object));
        }
    }
    let dependencies = Dependencies::of(state);
    tree.write(fields.key("root_module"), &mut |(instance, deposed, object), out| {
        push_resource(instance, *deposed, object, &dependencies, out);
    });
    fields.end();
}

fn push_output(value: &Value, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    fields.bool("sensitive", value.marks().is_sensitive());
    fields.json("value", &known(value));
    fields.json("type", &type_json(&value.ty()));
    fields.end();
}

fn push_resource(
    instance: &ShownInstance,
    deposed: Option<&DeposedKey>,
    object: &Object,
    dependencies: &Dependencies,
    out: &mut String,
) {
    let mut fields = Fields::begin(out, Escape::Html);
    push_identity(&instance.address, &mut fields);
    fields.string("provider_name", &instance.provider.provider.to_string());
    // Terraform does not say the version of a deposed object.
    let version = if deposed.is_some() { 0 } else { instance.schema.version };
    fields.raw("schema_version", version);
    if !object.value.is_null() {
        fields.json("values", &known(&object.value));
    }
    let shape = Shape::Block(&instance.schema.block);
    fields.json("sensitive_values", &sensitive(&object.value, shape));
    let depends_on = dependencies.all(object, &instance.address.config());
    // Terraform keeps none for data sources.
    let managed = instance.address.resource.mode == ResourceMode::Managed;
    if managed && !depends_on.is_empty() {
        write_array(depends_on, fields.key("depends_on"), |address, out| {
            crate::json::write_string(&address, Escape::Html, out);
        });
    }
    if object.status == ObjectStatus::Tainted {
        fields.bool("tainted", true);
    }
    if let Some(key) = deposed {
        fields.string("deposed_key", key.as_str());
    }
    fields.end();
}

/// Address, mode, type, name and index of an instance.
pub(crate) fn push_identity(address: &ResourceInstance, fields: &mut Fields<'_>) {
    fields.string("address", &address.to_string());
    fields.string("mode", address.resource.mode.as_str());
    fields.string("type", &address.resource.ty);
    fields.string("name", &address.resource.name);
    if let Some(index) = index_json(&address.key) {
        fields.json("index", &index);
    }
}
