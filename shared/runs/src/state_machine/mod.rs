//! The definition of a run, worked off in this process: what Step Functions does for functions that are deployed.
//!
//! It interprets the very file that is deployed, so that there are not two workflows that could come to differ. Of Amazon's States
//! Language it knows what that file uses, and refuses the rest when the file is read: [`Definition`]. What an execution has come
//! to is a record of its own, written before and after everything that is done for it, so that a process that dies is gone on
//! with by the next one: [`LocalExecutions`].

mod definition;
mod execution;
mod local_executions;
mod path;
mod retrying;

pub use definition::{Definition, DefinitionError};
pub use local_executions::{ExecutionObserver, LocalExecutions, Resources, TaskError, TaskRequest};
