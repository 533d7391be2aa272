//! Evaluation in the modules of an estate: what is known so far, and the scope that expressions see.

mod check_rules;
mod checks;
mod context;
mod expansion;
pub(crate) mod named_values;
mod scope;
mod working;

pub(crate) use check_rules::{CheckedObject, check_rules};
pub(crate) use checks::{check, report_unread_data};
pub(crate) use context::{EvalContext, Operation};
pub(crate) use expansion::{Expansion, RepetitionData, evaluate_expansion};
pub(crate) use working::{Named, Working};
