//! Why a command ends before its end.

use crate::flags::UsageError;
use engine::verdict::RejectCode;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use runs::{RunError, sentence};
use std::sync::Arc;

/// Why a command ends before its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line was wrong.
    Usage(UsageError),
    /// Something is wrong with files, records or the world.
    Diagnostics(Diagnostics, Arc<Sources>),
    /// A plan is refused, for a reason that programs know.
    Refused(RejectCode, Diagnostics),
    /// It was said already.
    Reported,
}

impl Failure {
    /// One error that is about no file.
    pub(crate) fn error(summary: impl Into<String>, detail: impl Into<String>) -> Failure {
        Diagnostic::error(summary, detail).into()
    }

    /// The same, of an error that is written as a clause.
    pub(crate) fn of(summary: impl Into<String>, error: &dyn std::error::Error) -> Failure {
        Failure::error(summary, sentence(&error.to_string()))
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Failure {
        Failure::Usage(error)
    }
}
impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::Diagnostics(diagnostic.into(), Arc::default())
    }
}
impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error.code() {
            Some(code) => Failure::Refused(code, error.to_diagnostic().into()),
            None => error.to_diagnostic().into(),
        }
    }
}
