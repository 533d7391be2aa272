//! Tells what tests come to, to a person or to a program, and keeps it for a report.

use crate::reporter::{Reporter, Voice};
use crate::session::Session;
use engine::module_tests::{FileProgress, Leftovers, RunReport, TestObserver};
use language::module::test_file::{Run, TestFile};
use language::source::Sources;
use std::sync::{Arc, Mutex, PoisonError};
use views::junit::TestedFile;
use views::module_tests::{
    abandoned_text, destroying_failed, file_line, left_text, run_line, write_shown,
};
use views::stream::{RunProgress, TestPlace};

pub(super) struct Observer {
    reporter: Arc<Reporter>,
    tested: Mutex<Vec<TestedFile>>,
}

impl Observer {
    pub(super) fn new(session: &Session) -> Observer {
        Observer { reporter: session.reporter.clone(), tested: Mutex::default() }
    }

    /// What was reported.
    pub(super) fn tested(&self) -> Vec<TestedFile> {
        self.tested.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, keep: impl FnOnce(&mut Vec<TestedFile>)) {
        keep(&mut self.tested.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn place(file: &TestFile, run: &Run) -> String {
    format!("{}/{}", file.name, run.name)
}

impl TestObserver for Observer {
    fn file(&self, file: &TestFile, progress: FileProgress) {
        if progress == FileProgress::Starting {
            let name = file.name.to_string();
            self.keep(|tested| tested.push(TestedFile { name, runs: Vec::new() }));
        }
        match &self.reporter.voice {
            Voice::Json(stream) => stream.test_file(&file.name, progress),
            Voice::Human(_) => {
                self.reporter.print(&file_line(&file.name, progress, self.reporter.text.colour));
            }
        }
    }

    fn run_starting(&self, file: &TestFile, run: &Run) {
        if let Voice::Json(stream) = &self.reporter.voice {
            stream.test_run(&file.name, &run.name, RunProgress::Starting);
        }
    }

    fn run(&self, file: &TestFile, run: &Run, report: &RunReport, sources: &Sources) {
        self.keep(|tested| {
            if let Some(file) = tested.last_mut() {
                file.runs.push((run.name.to_string(), report.clone()));
            }
        });
        match &self.reporter.voice {
            Voice::Json(stream) => {
                stream.test_run(&file.name, &run.name, RunProgress::Complete(report.status));
                let place = TestPlace { file: &file.name, run: Some(&run.name) };
                let sorted = report.diagnostics.clone().sorted(sources);
                stream.test_diagnostics(place, &sorted, sources);
            }
            Voice::Human(_) => {
                let text = self.reporter.text;
                self.reporter.print(&run_line(&run.name, report.status, text.colour));
                self.reporter.write(|out| write_shown(report, text, out));
                self.reporter.diagnostics(&report.diagnostics, sources);
                if report.diagnostics.iter().any(|diagnostic| !diagnostic.is_error()) {
                    // What is next to the warnings is no part of them.
                    self.reporter.print("\n");
                }
            }
        }
    }

    fn run_tearing_down(&self, file: &TestFile, run: &Run) {
        if let Voice::Json(stream) = &self.reporter.voice {
            stream.test_run(&file.name, &run.name, RunProgress::TearingDown);
        }
    }

    fn left(&self, file: &TestFile, run: &Run, leftovers: &Leftovers, sources: &Sources) {
        if let Voice::Json(stream) = &self.reporter.voice {
            if !leftovers.objects.is_empty() {
                stream.test_cleanup(&file.name, &run.name, leftovers);
            }
            let place = TestPlace { file: &file.name, run: Some(&run.name) };
            stream.test_diagnostics(place, &leftovers.diagnostics, sources);
            return;
        }
        let (place, width) = (place(file, run), self.reporter.text.width);
        if leftovers.diagnostics.has_errors() {
            crate::reporter::to_stderr(&destroying_failed(&place, width));
        }
        self.reporter.diagnostics(&leftovers.diagnostics, sources);
        if !leftovers.objects.is_empty() {
            crate::reporter::to_stderr(&left_text(&place, leftovers, width));
        }
    }

    fn abandoned(&self, file: &TestFile, run: &Run, leftovers: &Leftovers) {
        match &self.reporter.voice {
            Voice::Json(stream) => stream.test_interrupt(&file.name, &run.name, leftovers),
            Voice::Human(_) => {
                let width = self.reporter.text.width;
                let text = abandoned_text(&place(file, run), leftovers, width);
                crate::reporter::to_stderr(&text);
            }
        }
    }
}
