//! Provisioners: what may be written in their blocks, and how the commands of `local-exec` are run.

mod local_exec;
mod output;
mod schemas;
mod validation;

pub(crate) use local_exec::{LocalExec, Outcome};
pub(crate) use schemas::schema;
pub(crate) use validation::{unavailable, unsupported, validate};
