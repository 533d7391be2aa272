//! What is told while tests run.

use super::TestStatus;
use crate::plan::Plan;
use crate::state::State;
use jiff::Timestamp;
use language::diagnostics::Diagnostics;
use language::module::test_file::{Run, TestFile};
use language::source::Sources;
use std::sync::Arc;
use std::time::Duration;
use values::address::ResourceInstance;

/// How far a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileProgress {
    /// Its runs begin.
    Starting,
    /// What they made is deleted.
    TearingDown,
    /// It is over.
    Complete(TestStatus),
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// What it came to.
    pub status: TestStatus,
    /// What is to be said of it.
    pub diagnostics: Diagnostics,
    /// What was planned, or what there is since, where that is to be shown.
    pub shown: Option<ShownResult>,
    /// How many assertions were evaluated, and how many of them do not hold.
    pub assertions: usize,
    /// How many of them do not hold.
    pub failed_assertions: usize,
    /// When it began; `None` where it was skipped.
    pub began: Option<Timestamp>,
    /// How long it took.
    pub took: Duration,
}

impl RunReport {
    pub(super) fn skipped() -> RunReport {
        RunReport { status: TestStatus::Skip, ..RunReport::default() }
    }

    pub(super) fn error(diagnostics: Diagnostics) -> RunReport {
        RunReport { status: TestStatus::Error, diagnostics, ..RunReport::default() }
    }
}

/// What a run shows of its work.
#[derive(Clone, Debug)]
pub enum ShownResult {
    /// A plan.
    Planned(Arc<Plan>),
    /// What there is after an apply.
    Applied {
        /// All that was made.
        state: Arc<State>,
        /// The plan, which knows the schemas.
        plan: Arc<Plan>,
    },
}

/// What could not be deleted.
#[derive(Clone, Debug, Default)]
pub struct Leftovers {
    /// Objects that may still exist: instances, with the keys of deposed objects.
    pub objects: Vec<(ResourceInstance, Option<Arc<str>>)>,
    /// Why.
    pub diagnostics: Diagnostics,
}

impl Leftovers {
    pub(super) fn of(state: &State, diagnostics: Diagnostics) -> Leftovers {
        let mut objects = Vec::new();
        for (address, instance) in &state.instances {
            if address.resource.mode != values::address::ResourceMode::Managed {
                continue;
            }
            if instance.current.is_some() {
                objects.push((address.clone(), None));
            }
            let deposed = instance.deposed.keys();
            objects.extend(deposed.map(|key| (address.clone(), Some(key.to_string().into()))));
        }
        Leftovers { objects, diagnostics }
    }
}

/// Observer of tests.
pub trait TestObserver: Send + Sync {
    /// A file has come so far.
    fn file(&self, file: &TestFile, progress: FileProgress);
    /// A run begins.
    fn run_starting(&self, file: &TestFile, run: &Run);
    /// A run is over, or was left out.
    fn run(&self, file: &TestFile, run: &Run, report: &RunReport, sources: &Sources);
    /// What a run made, being the last to change its state, is about to be deleted.
    fn run_tearing_down(&self, file: &TestFile, run: &Run);
    /// Something was left, or is to be said, after that.
    fn left(&self, file: &TestFile, run: &Run, leftovers: &Leftovers, sources: &Sources);
    /// Tests were given up at once: this is what they may leave.
    fn abandoned(&self, file: &TestFile, run: &Run, leftovers: &Leftovers);
}
