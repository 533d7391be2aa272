//! Evaluation in the modules of an estate: what is known so far, and the scope that expressions see.

mod check_results;
mod check_rules;
mod checks;
mod context;
mod expansion;
pub(crate) mod named_values;
mod provider_functions;
mod read_logs;
mod scope;
mod threads;
mod working;

pub(crate) use check_results::planned_checks;
pub(crate) use check_rules::{CheckedObject, check_rules, check_rules_for};
pub(crate) use checks::{check, report_unread_data};
pub(crate) use context::{EvalContext, Operation};
pub(crate) use expansion::{
    Expansion, RepetitionData, evaluate_expansion, evaluate_expansion_in_parts,
};
pub(crate) use read_logs::Reader;
pub(crate) use scope::{ModuleScope, unsupported, unsupported_attribute};
pub(crate) use threads::blocking;
pub use threads::worker_threads;
pub(crate) use working::{Named, Working};
