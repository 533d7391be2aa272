//! Tests of a module: the runs of test files, one after the other, on a state that lives in memory alone and is taken
//! down at the end.

mod cleanup;
mod doubles;
mod execution;
mod expectations;
mod observer;
mod states;
mod variables;

use crate::environment::Environment;
use crate::stop::{Stop, StopLevel};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use language::module::test_file::TestFile;
use language::variables::RootValues;
use states::States;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use observer::{FileProgress, Leftovers, RunReport, ShownResult, TestObserver};

/// What a run, a file or all of them came to. Of several the worst counts, which comes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Left out, after an error or an interrupt.
    Skip,
    /// All is as it should be.
    Pass,
    /// An assertion does not hold.
    Fail,
    /// It could not be carried out, or not as expected.
    Error,
}

/// What is tested.
#[derive(Debug)]
pub struct TestSuite {
    /// The module under test.
    pub configuration: Arc<Configuration>,
    /// Test files in the order in which they are run.
    pub files: Vec<SuiteFile>,
}

/// One test file with what its runs need.
#[derive(Debug)]
pub struct SuiteFile {
    /// The file.
    pub file: TestFile,
    /// Modules that runs have in place of the one under test, by the name of the run.
    pub modules: BTreeMap<Arc<str>, Arc<Configuration>>,
    /// Values that are given for all its runs from outside.
    pub values: RootValues,
}

/// How many runs came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestSummary {
    /// What they came to together.
    pub status: TestStatus,
    /// Runs that passed.
    pub passed: usize,
    /// Runs of which an assertion does not hold.
    pub failed: usize,
    /// Runs that could not be carried out.
    pub errored: usize,
    /// Runs that were left out.
    pub skipped: usize,
}

impl TestSuite {
    /// Warnings about what is overridden and is not there.
    pub fn superfluous_overrides(&self) -> Diagnostics {
        let of_file = |file: &SuiteFile| doubles::without_target(&self.configuration, file);
        self.files.iter().flat_map(of_file).collect()
    }
}

impl TestSummary {
    fn add(&mut self, status: TestStatus) {
        self.status = self.status.max(status);
        match status {
            TestStatus::Pass => self.passed += 1,
            TestStatus::Fail => self.failed += 1,
            TestStatus::Error => self.errored += 1,
            TestStatus::Skip => self.skipped += 1,
            TestStatus::Pending => {}
        }
    }
}

/// Runs tests in these surroundings.
pub struct Tester {
    environment: Environment,
    interrupt: Stop,
    /// Whether reports show what was planned, or what there is.
    verbose: bool,
}

impl Tester {
    /// `interrupt` is asked once to begin no further run, and twice to give up at once. No hook of the surroundings is
    /// called.
    pub fn new(environment: Environment, interrupt: Stop, verbose: bool) -> Tester {
        let environment = Environment { hooks: Vec::new(), ..environment };
        Tester { environment, interrupt, verbose }
    }

    /// Runs all files.
    pub async fn run(&self, suite: &TestSuite, observer: &dyn TestObserver) -> TestSummary {
        let mut summary = TestSummary { status: TestStatus::Pass, ..TestSummary::default() };
        for file in &suite.files {
            if self.is_aborted() {
                break;
            }
            let status = self.file(suite, file, &mut summary, observer).await;
            summary.status = summary.status.max(status);
        }
        summary
    }

    async fn file(
        &self,
        suite: &TestSuite,
        file: &SuiteFile,
        summary: &mut TestSummary,
        observer: &dyn TestObserver,
    ) -> TestStatus {
        // Of a file without runs nothing can be wrong.
        let mut status = match file.file.runs.is_empty() {
            true => TestStatus::Pass,
            false => TestStatus::Pending,
        };
        let mut states = States::default();
        observer.file(&file.file, FileProgress::Starting);
        for (index, run) in file.file.runs.iter().enumerate() {
            if self.is_aborted() {
                break;
            }
            let begun = self.environment.clock.now();
            let started = self.environment.clock.elapsed();
            let mut report = if status == TestStatus::Error || self.interrupt.is_stopping() {
                RunReport::skipped()
            } else {
                observer.run_starting(&file.file, run);
                let execution = execution::Execution { tester: self, suite, file, run, index };
                execution.carry_out(&mut states).await
            };
            if self.is_aborted() {
                report = RunReport::error(given_up().into());
            }
            if report.status != TestStatus::Skip {
                report.began = Some(begun);
                report.took = self.environment.clock.elapsed().saturating_sub(started);
            }
            status = status.max(report.status);
            summary.add(report.status);
            observer.run(&file.file, run, &report, &suite.configuration.sources);
        }
        if self.is_aborted() {
            cleanup::tell_what_is_left(file, &states, observer);
            return TestStatus::Error;
        }
        observer.file(&file.file, FileProgress::TearingDown);
        if !cleanup::tear_down(self, suite, file, &states, observer).await {
            status = TestStatus::Error;
        }
        observer.file(&file.file, FileProgress::Complete(status));
        status
    }

    fn is_aborted(&self) -> bool {
        self.interrupt.level() == StopLevel::Hard
    }

    /// Does work that a first interrupt does not stop, and a second one does.
    async fn supervised<T>(&self, stop: &Stop, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            result = &mut work => return result,
            () = self.interrupt.reached(StopLevel::Hard) => {}
        }
        // For good, as whoever interrupts twice asks it.
        stop.request();
        stop.request();
        work.await
    }
}

fn given_up() -> Diagnostic {
    Diagnostic::error(
        "Test interrupted",
        "The test operation could not be completed due to an interrupt signal. Please read the remaining diagnostics carefully for any sign of failed state cleanup or dangling resources.",
    )
}
