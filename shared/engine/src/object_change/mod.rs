//! The algebra of an object's change: what is proposed to a provider, and what a provider may
//! answer. The rules are those of the plugin protocol.

mod compatible;
mod ignore_changes;
mod plan_request;
mod plan_valid;
mod proposed;

pub(crate) use compatible::assert_object_compatible;
pub(crate) use ignore_changes::{all_configurable, ignore_changes};
pub(crate) use plan_request::PlanRequest;
pub(crate) use plan_valid::assert_plan_valid;
pub(crate) use proposed::planned_unknown;
use proposed::proposed_new;

use std::collections::BTreeSet;
use values::{Path, Value};

/// One rule that an answer breaks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Violation {
    /// Where in the object.
    pub(crate) path: Path,
    /// What is wrong there; without sensitive values.
    pub(crate) message: String,
}

impl Violation {
    fn new(path: &Path, message: impl Into<String>) -> Violation {
        Violation { path: path.clone(), message: message.into() }
    }
}

/// As Terraform names the place: `.attribute: what is wrong`.
impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.is_root() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// The same value without refinements of its unknowns: a provider may lose them.
fn unrefined(value: &Value) -> Value {
    if value.is_wholly_known() {
        return value.clone();
    }
    match value.is_known() {
        false => Value::unknown(value.ty()).with_marks(value.marks()),
        true => value.map_children(&mut |_, v| unrefined(v)),
    }
}

/// Null where something is unknown.
pub(crate) fn without_unknowns(value: &Value) -> Value {
    if value.is_wholly_known() {
        return value.clone();
    }
    match value.is_known() {
        false => Value::null(value.ty()).with_marks(value.marks()),
        true => value.map_children(&mut |_, v| without_unknowns(v)),
    }
}

/// Equal but for refinements.
fn same(a: &Value, b: &Value) -> bool {
    unrefined(a) == unrefined(b)
}

/// Whether the same parts of two values are sensitive.
pub(crate) fn same_marks(a: &Value, b: &Value) -> bool {
    let sensitive = |v: &Value| {
        let paths = v.marked_paths().into_iter().filter(|(_, marks)| marks.is_sensitive());
        paths.map(|(path, _)| path).collect::<BTreeSet<_>>()
    };
    a.deep_marks() == b.deep_marks() && (a.deep_marks().is_empty() || sensitive(a) == sensitive(b))
}

/// The attribute of an object that may be null or unknown.
fn attribute(object: &Value, name: &str) -> Value {
    object.attribute(name).unwrap_or_else(Value::dynamic)
}

/// The number of elements of a known collection.
fn length(value: &Value) -> usize {
    value.as_slice().map(<[Value]>::len).or_else(|| value.as_map().map(|m| m.len())).unwrap_or(0)
}
