//! A plan as programs read it: format version 1.2 of Terraform's plan representation.

mod change;
mod planned_values;

use crate::json::{Escape, Fields, Json, write_array, write_string};
use crate::plan_view::PlanView;
use crate::product::TERRAFORM_VERSION;
use crate::shown_state::ShownState;
use crate::state_json::push_state;
use crate::value_json::known;
use engine::changes::OutputChange;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use values::{Kind, Path, PathStep, Value};

/// Version of the representation.
pub const FORMAT_VERSION: &str = "1.2";

/// What the representation holds beside the plan itself.
#[derive(Clone, Debug, Default)]
pub struct PlanDocument {
    /// Defaults of root variables that were not set.
    pub variable_defaults: BTreeMap<Arc<str>, Value>,
    /// The configuration, in Terraform's representation.
    pub configuration: Option<Json>,
    /// Results of checks, in Terraform's representation.
    pub checks: Option<Json>,
    /// What a saved plan changes and looked at, of [`crate::sets`]: an addition to Terraform's representation.
    pub sets: Option<Json>,
}

/// Writes a plan and a newline.
///
/// # Errors
/// Those of the writer.
pub fn write_plan(
    view: &PlanView<'_>,
    document: &PlanDocument,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = String::new();
    push_plan(view, document, &mut text);
    text.push('\n');
    out.write_all(text.as_bytes())
}

fn push_plan(view: &PlanView<'_>, document: &PlanDocument, out: &mut String) {
    let plan = view.plan;
    let mut fields = Fields::begin(out, Escape::Html);
    fields.string("format_version", FORMAT_VERSION);
    fields.string("terraform_version", TERRAFORM_VERSION);
    push_variables(view, document, &mut fields);
    planned_values::push(view, fields.key("planned_values"));
    let drift = view.drift();
    if !drift.is_empty() {
        write_array(drift, fields.key("resource_drift"), |c, out| change::push(view, c, out));
    }
    let changes = view.changes();
    if !changes.is_empty() {
        write_array(changes, fields.key("resource_changes"), |c, out| change::push(view, c, out));
    }
    push_output_changes(&plan.changes.outputs, &mut fields);
    let prior = ShownState::before(plan);
    if !prior.is_empty() {
        push_state(&prior, fields.key("prior_state"));
    }
    if let Some(configuration) = &document.configuration {
        fields.json("configuration", configuration);
    }
    push_relevant_attributes(view, &mut fields);
    if let Some(checks) = &document.checks {
        fields.json("checks", checks);
    }
    if let Some(sets) = &document.sets {
        fields.json(crate::sets::KEY, sets);
    }
    fields.string("timestamp", &timestamp(plan.timestamp));
    fields.bool("applyable", view.is_applyable());
    fields.bool("complete", plan.complete && !view.targeted);
    fields.bool("errored", !plan.complete);
    fields.end();
}

fn push_variables(view: &PlanView<'_>, document: &PlanDocument, fields: &mut Fields<'_>) {
    let mut variables = document.variable_defaults.clone();
    variables.extend(view.plan.variables.iter().map(|(k, v)| (k.clone(), v.clone())));
    // Ephemeral values are of this run alone.
    variables.retain(|_, value| !value.marks().is_ephemeral());
    if variables.is_empty() {
        return;
    }
    let of = |value: &Value| Json::object([("value", known(value))]);
    fields.json("variables", &Json::object(variables.iter().map(|(k, v)| (k.clone(), of(v)))));
}

fn push_output_changes(outputs: &BTreeMap<Arc<str>, OutputChange>, fields: &mut Fields<'_>) {
    if outputs.is_empty() {
        return;
    }
    let mut all = Fields::begin(fields.key("output_changes"), Escape::Html);
    for (name, output) in outputs {
        change::push_output(output, all.key(name));
    }
    all.end();
}

fn push_relevant_attributes(view: &PlanView<'_>, fields: &mut Fields<'_>) {
    let Some(relevant) = view.relevant.as_ref().filter(|r| !r.is_empty()) else { return };
    let mut sorted: Vec<_> = relevant.iter().map(|r| (r.resource.to_string(), &r.path)).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    write_array(sorted, fields.key("relevant_attributes"), |(resource, path), out| {
        let mut fields = Fields::begin(out, Escape::Html);
        fields.string("resource", &resource);
        push_path(path, fields.key("attribute"));
        fields.end();
    });
}

/// A path as an array of names and positions.
fn push_path(path: &Path, out: &mut String) {
    write_array(&path.0, out, |step, out| match step {
        PathStep::Attribute(name) | PathStep::Key(name) => write_string(name, Escape::Html, out),
        PathStep::Index(i) => out.push_str(&i.to_string()),
        PathStep::Element(value) => match value.kind() {
            Kind::Null(_) | Kind::Unknown(..) => out.push_str("null"),
            _ => known(value).write(Escape::Html, out),
        },
    });
}

fn timestamp(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds)
        .map(|t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}
