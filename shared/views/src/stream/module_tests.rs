//! Messages about tests of a module.

use super::message::{Level, Message};
use super::{Stream, diagnostic_message, object};
use crate::json::{Escape, Fields, Json, write_array};
use crate::module_tests::{status_word, summary_text};
use crate::{Colour, product::NAME};
use engine::module_tests::{FileProgress, Leftovers, TestStatus, TestSuite, TestSummary};
use language::diagnostics::Diagnostic;
use language::source::Sources;

/// Where in a suite a message belongs.
#[derive(Clone, Copy, Debug)]
pub struct TestPlace<'a> {
    /// The file.
    pub file: &'a str,
    /// The run.
    pub run: Option<&'a str>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunProgress {
    /// It begins.
    Starting,
    /// It came to this.
    Complete(TestStatus),
    /// What it made is deleted.
    TearingDown,
}

fn status_json(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Error => "error",
        status => status_word(status),
    }
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

impl Stream {
    /// All runs of all files.
    pub fn test_suite(&self, suite: &TestSuite) {
        let runs: usize = suite.files.iter().map(|file| file.file.runs.len()).sum();
        let (files, runs) = (counted(suite.files.len(), "file"), counted(runs, "run block"));
        let names = object(|fields| {
            for file in &suite.files {
                let runs = &file.file.runs;
                write_array(runs.iter(), fields.key(&file.file.name), |run, out| {
                    out.push_str(&Json::string(&*run.name).to_text(Escape::Minimal));
                });
            }
        });
        let message = Message::new(format!("Found {files} and {runs}"), "test_abstract");
        self.write(message.with_text("test_abstract", names));
    }

    /// A file has come so far.
    pub fn test_file(&self, name: &str, progress: FileProgress) {
        let (text, word, status) = match progress {
            FileProgress::Starting => ("in progress", "starting", None),
            FileProgress::TearingDown => ("tearing down", "teardown", None),
            FileProgress::Complete(status) => (status_word(status), "complete", Some(status)),
        };
        let json = object(|fields| {
            fields.string("path", name);
            fields.string("progress", word);
            if let Some(status) = status {
                fields.string("status", status_json(status));
            }
        });
        let message = Message::new(format!("{name}... {text}"), "test_file");
        let place = TestPlace { file: name, run: None };
        self.write(placed(message, place).with_text("test_file", json));
    }

    /// A run has come so far.
    pub fn test_run(&self, file: &str, run: &str, progress: RunProgress) {
        let (text, word, status) = match progress {
            RunProgress::Starting => ("in progress", "starting", None),
            RunProgress::TearingDown => ("tearing down", "teardown", None),
            RunProgress::Complete(status) => (status_word(status), "complete", Some(status)),
        };
        let json = object(|fields| {
            fields.string("path", file);
            fields.string("run", run);
            fields.string("progress", word);
            match status {
                Some(status) => fields.string("status", status_json(status)),
                None => fields.raw("elapsed", 0),
            }
        });
        let message = Message::new(format!("  {run:?}... {text}"), "test_run");
        let place = TestPlace { file, run: Some(run) };
        self.write(placed(message, place).with_text("test_run", json));
    }

    /// Errors and warnings of a run.
    pub fn test_diagnostics<'a>(
        &self,
        place: TestPlace<'_>,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        sources: &Sources,
    ) {
        for diagnostic in diagnostics {
            self.write(placed(diagnostic_message(diagnostic, sources), place));
        }
    }

    /// What could not be deleted.
    pub fn test_cleanup(&self, file: &str, run: &str, leftovers: &Leftovers) {
        let json = object(|fields| {
            push_objects(leftovers, fields.key("failed_resources"));
        });
        let text = format!(
            "{NAME} left some resources in state after executing {file}/{run}, they need to be cleaned up manually."
        );
        let message = Message::new(text, "test_cleanup").level(Level::Error);
        let place = TestPlace { file, run: Some(run) };
        self.write(placed(message, place).with_text("test_cleanup", json));
    }

    /// What exists by the time that tests are given up.
    pub fn test_interrupt(&self, file: &str, run: &str, leftovers: &Leftovers) {
        let json = object(|fields| push_objects(leftovers, fields.key("state")));
        let text = format!(
            "{NAME} was interrupted during test execution, and may not have performed the expected cleanup operations."
        );
        let message = Message::new(text, "test_interrupt").level(Level::Error);
        let place = TestPlace { file, run: Some(run) };
        self.write(placed(message, place).with_text("test_interrupt", json));
    }

    /// How many runs came to what.
    pub fn test_summary(&self, summary: TestSummary) {
        let json = object(|fields| {
            fields.string("status", status_json(summary.status));
            fields.raw("passed", summary.passed);
            fields.raw("failed", summary.failed);
            fields.raw("errored", summary.errored);
            fields.raw("skipped", summary.skipped);
        });
        let text = summary_text(summary, Colour::Plain);
        self.write(Message::new(text.trim(), "test_summary").with_text("test_summary", json));
    }
}

fn placed(message: Message, place: TestPlace<'_>) -> Message {
    let message = message.with("@testfile", Json::string(place.file));
    match place.run {
        Some(run) => message.with("@testrun", Json::string(run)),
        None => message,
    }
}

fn push_objects(leftovers: &Leftovers, out: &mut String) {
    write_array(leftovers.objects.iter(), out, |(address, deposed), out| {
        let mut fields = Fields::begin(out, Escape::Minimal);
        fields.string("instance", &address.to_string());
        if let Some(key) = deposed {
            fields.string("deposed_key", key);
        }
        fields.end();
    });
}
