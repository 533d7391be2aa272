//! What tests came to, as JUnit writes it: for programs that show and count tests.

use crate::colour::Colour;
use crate::diagnostics::{DiagnosticOptions, write_text};
use engine::module_tests::{RunReport, TestStatus};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Columns of what is said of a run.
const WIDTH: usize = 80;

/// One file with its runs, as they were reported.
#[derive(Clone, Debug, Default)]
pub struct TestedFile {
    /// Its name.
    pub name: String,
    /// The runs by name.
    pub runs: Vec<(String, RunReport)>,
}

/// Writes the document.
///
/// # Errors
/// Those of the writer.
pub fn write(files: &[TestedFile], sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>\n");
    for file in files {
        push_file(file, sources, &mut text);
    }
    text.push_str("</testsuites>\n");
    out.write_all(text.as_bytes())
}

fn push_file(file: &TestedFile, sources: &Sources, out: &mut String) {
    let count = |status| file.runs.iter().filter(|(_, report)| report.status == status).count();
    let _ = write!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" failures=\"{}\" errors=\"{}\">",
        escaped(&file.name),
        file.runs.len(),
        count(TestStatus::Skip),
        count(TestStatus::Fail),
        count(TestStatus::Error)
    );
    let mut failed = None;
    for (name, report) in &file.runs {
        out.push_str("\n    ");
        push_run(&file.name, name, report, failed, sources, out);
        if report.status == TestStatus::Error {
            failed = failed.or(Some(name.as_str()));
        }
    }
    out.push_str(if file.runs.is_empty() { "</testsuite>\n" } else { "\n  </testsuite>\n" });
}

fn push_run(
    file: &str,
    name: &str,
    report: &RunReport,
    failed: Option<&str>,
    sources: &Sources,
    out: &mut String,
) {
    let _ = write!(out, "<testcase name=\"{}\" classname=\"{}\"", escaped(name), escaped(file));
    if let Some(began) = report.began {
        let began = began.strftime("%Y-%m-%dT%H:%M:%SZ");
        let _ = write!(out, " time=\"{}\" timestamp=\"{began}\"", report.took.as_secs_f64());
    }
    out.push('>');
    let mut children = String::new();
    let (errors, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
        report.diagnostics.iter().cloned().partition(Diagnostic::is_error);
    match report.status {
        TestStatus::Skip => {
            let (message, detail) = match failed {
                Some(failed) => (
                    "Testcase skipped due to a previous testcase error",
                    format!(
                        "Previous testcase {failed:?} ended in error, which caused the remaining tests in the file to be skipped"
                    ),
                ),
                None => (
                    "Testcase skipped due to an interrupt",
                    "An interrupt was received, which caused all remaining testcases to be skipped"
                        .to_owned(),
                ),
            };
            push_element("skipped", Some(message), &detail, &mut children);
        }
        TestStatus::Fail => {
            let said = errors.iter().map(|error| error.detail.as_str()).next().unwrap_or_default();
            let including = if report.failed_assertions > 1 { ", including" } else { "" };
            let message = format!(
                "{} of {} assertions failed{including}: {said}",
                report.failed_assertions, report.assertions
            );
            let text = rendered(errors, sources);
            push_element("failure", Some(&message), &text, &mut children);
        }
        TestStatus::Error => {
            let text = rendered(errors, sources);
            push_element("error", Some("Encountered an error"), &text, &mut children);
        }
        TestStatus::Pass | TestStatus::Pending => {}
    }
    if !others.is_empty() {
        push_element("system-err", None, &rendered(others, sources), &mut children);
    }
    if !children.is_empty() {
        out.push_str(&children);
        out.push_str("\n    ");
    }
    out.push_str("</testcase>");
}

fn push_element(name: &str, message: Option<&str>, text: &str, out: &mut String) {
    let _ = write!(out, "\n      <{name}");
    if let Some(message) = message {
        let _ = write!(out, " message=\"{}\"", escaped(message));
    }
    // What would end the section is divided between two.
    let text = text.replace("]]>", "]]]]><![CDATA[>");
    let text: String = text.chars().map(allowed).collect();
    let _ = write!(out, "><![CDATA[{text}]]></{name}>");
}

fn rendered(diagnostics: Vec<Diagnostic>, sources: &Sources) -> String {
    let diagnostics: Diagnostics = diagnostics.into_iter().collect();
    let options = DiagnosticOptions { colour: Colour::Plain, width: WIDTH };
    let mut text = Vec::new();
    // A vector takes everything.
    let _ = write_text(&diagnostics, sources, options, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match allowed(c) {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            '\t' => out.push_str("&#x9;"),
            c => out.push(c),
        }
    }
    out
}

/// XML has no other control characters than these, not even escaped.
fn allowed(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => c,
        c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    }
}
