//! A saved plan as programs read it: what `plumb show -json` writes.

use crate::source;
use engine::saved_plan::SavedPlan;
use std::io::{self, Write};
use views::plan_json::{PlanDocument, write_plan};
use views::{PlanView, checks_json, configuration_json, relevant_attributes, sets};

/// Writes a plan with its configuration; `reads` with what it changes and what it looked at.
///
/// # Errors
/// Those of the writer.
pub fn write_json(saved: &SavedPlan, reads: bool, out: &mut dyn Write) -> io::Result<()> {
    let (source, _) = source::from_bundle(&saved.bundle);
    let mut view = PlanView::new(&saved.plan);
    view.relevant = Some(relevant_attributes(&source.configuration, &saved.plan));
    let variables = source.configuration.root.module.variables.values();
    let defaults = variables.filter_map(|v| Some((v.name.clone(), v.default.clone()?)));
    let configuration =
        configuration_json::configuration(&source.configuration, &saved.plan.schemas);
    let document = PlanDocument {
        variable_defaults: defaults.collect(),
        configuration: Some(configuration),
        checks: checks_json(&saved.plan.checks),
        sets: reads.then(|| sets::sets_json(saved)),
    };
    write_plan(&view, &document, out)
}
