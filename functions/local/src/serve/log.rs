//! What the server says of its runs, a line for each thing that happens.

use crate::reporter::Reporter;
use records::StoreError;
use runs::state_machine::ExecutionObserver;
use std::sync::Arc;

/// Lines to standard output.
pub(crate) struct Log(pub(crate) Arc<Reporter>);

impl Log {
    pub(crate) fn line(&self, text: &str) {
        self.0.print(&format!("{text}\n"));
    }

    /// Something about a run.
    pub(super) fn of_run(&self, estate: &str, run: &str, text: &str) {
        self.line(&format!("{estate} {run}: {text}"));
    }
}

impl ExecutionObserver for Log {
    fn entered(&self, execution: &str, state: &str) {
        tracing::debug!("{execution} enters {state}");
    }

    fn troubled(&self, execution: &str, error: &StoreError) {
        self.line(&format!("{execution}: {error}; it is tried again"));
    }
}
