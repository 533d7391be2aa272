//! Tests of a module as people read them.

use crate::colour::Colour;
use crate::layout::wrap;
use crate::plan_text::{TextOptions, write_plan};
use crate::plan_view::PlanView;
use crate::product::NAME;
use crate::shown_state::ShownState;
use crate::state_text::write_state;
use engine::module_tests::{
    FileProgress, Leftovers, RunReport, ShownResult, TestStatus, TestSummary,
};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The word for what something came to.
pub fn status_word(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Pending => "pending",
        TestStatus::Skip => "skip",
        TestStatus::Pass => "pass",
        TestStatus::Fail | TestStatus::Error => "fail",
    }
}

fn painted(status: TestStatus, colour: Colour) -> String {
    let template = match status {
        TestStatus::Pass => "[green]{}",
        TestStatus::Fail | TestStatus::Error => "[red]{}",
        TestStatus::Pending | TestStatus::Skip => "[light_gray]{}",
    };
    colour.paint(template, &[status_word(status)])
}

/// The line about a file.
pub fn file_line(name: &str, progress: FileProgress, colour: Colour) -> String {
    let said = match progress {
        FileProgress::Starting => colour.paint("[light_gray]in progress", &[]),
        FileProgress::TearingDown => colour.paint("[light_gray]tearing down", &[]),
        FileProgress::Complete(status) => painted(status, colour),
    };
    format!("{name}... {said}\n")
}

/// The line about a run.
pub fn run_line(name: &str, status: TestStatus, colour: Colour) -> String {
    format!("  run {name:?}... {}\n", painted(status, colour))
}

/// What a run planned, or what there is since.
///
/// # Errors
/// Those of the writer.
pub fn write_shown(
    report: &RunReport,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match &report.shown {
        None => Ok(()),
        Some(ShownResult::Planned(plan)) => {
            write_plan(&PlanView::new(plan), options, out)?;
            writeln!(out)
        }
        Some(ShownResult::Applied { state, plan }) => {
            writeln!(out)?;
            write_state(&ShownState::made(state, plan), options.colour, out)?;
            writeln!(out)
        }
    }
}

/// The last line: how many runs came to what.
pub fn summary_text(summary: TestSummary, colour: Colour) -> String {
    let mut text = match summary.status {
        TestStatus::Fail | TestStatus::Error => colour.paint("\n[red]Failure!", &[]),
        TestStatus::Pass | TestStatus::Skip | TestStatus::Pending => {
            colour.paint("\n[green]Success!", &[])
        }
    };
    let failed = summary.failed + summary.errored;
    let _ = write!(text, " {} passed, {failed} failed", summary.passed);
    if summary.skipped > 0 {
        let _ = write!(text, ", {} skipped", summary.skipped);
    }
    text.push_str(".\n");
    text
}

/// That deleting what a run has made did not go well, and why follows.
pub fn destroying_failed(place: &str, width: usize) -> String {
    let text = format!(
        "{NAME} encountered an error destroying resources created while executing {place}."
    );
    wrap(&text, width) + "\n"
}

/// What could not be deleted.
pub fn left_text(place: &str, leftovers: &Leftovers, width: usize) -> String {
    let text = format!(
        "\n{NAME} left the following resources in state after executing {place}, and they need to be cleaned up manually:\n"
    );
    let mut text = wrap(&text, width);
    push_objects(leftovers, &mut text);
    text
}

/// What exists by the time that tests are given up.
pub fn abandoned_text(place: &str, leftovers: &Leftovers, width: usize) -> String {
    let text = format!(
        "\n{NAME} was interrupted while executing {place}, and has not deleted the following resources:\n"
    );
    let mut text = wrap(&text, width);
    push_objects(leftovers, &mut text);
    text
}

fn push_objects(leftovers: &Leftovers, text: &mut String) {
    for (address, deposed) in &leftovers.objects {
        let _ = match deposed {
            None => writeln!(text, "  - {address}"),
            Some(key) => writeln!(text, "  - {address} ({key})"),
        };
    }
}
