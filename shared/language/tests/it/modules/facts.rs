//! Tables of configurations with the diagnostics that the reference gives for them.
//!
//! A table is a text: `=== name` begins a case, `--- file` a file of it, and `--- diagnostics` the
//! expected lines, `severity range summary :: detail` with `-` for no range.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::Arc;

use language::diagnostics::{Diagnostic, Severity};
use language::files::Memory;
use language::module::{LoadOptions, load, validate_module_arguments, validate_references};
use language::source::Sources;

struct Case {
    name: String,
    files: Vec<(String, String)>,
    expected: Vec<String>,
}

fn parse(table: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in table.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name: name.into(), files: Vec::new(), expected: Vec::new() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        if let Some(file) = line.strip_prefix("--- ") {
            case.files.push((file.into(), String::new()));
            continue;
        }
        let (name, text) = case.files.last_mut().unwrap();
        if name == "diagnostics" {
            case.expected.push(line.into());
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    for case in &mut cases {
        case.files.retain(|(name, _)| name != "diagnostics");
    }
    cases
}

fn show(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let range = diagnostic.subject.map_or("-".to_owned(), |span| {
        let range = sources.range(span);
        let (start, mut end) = (range.start, range.end);
        // The reference's JSON widens empty ranges, so that there is something to underline.
        if start == end {
            end.column += 1;
        }
        format!("{}:{},{}-{},{}", range.filename, start.line, start.column, end.line, end.column)
    });
    let detail = diagnostic.detail.replace('\\', "\\\\").replace('\n', "\\n");
    format!("{severity} {range} {} :: {detail}", diagnostic.summary)
}

fn check(table: &str) {
    let mut failures = String::new();
    for case in parse(table) {
        let files: Memory = case.files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        let sources = Arc::new(Sources::new());
        let (configuration, mut diagnostics) =
            load(&files, Path::new("."), sources.clone(), LoadOptions::default());
        if !diagnostics.has_errors() {
            diagnostics.extend(validate_module_arguments(&configuration));
            diagnostics.extend(validate_references(&configuration));
        }
        let mut found: Vec<String> = diagnostics.iter().map(|d| show(d, &sources)).collect();
        found.sort();
        let missing = case.expected.iter().filter(|line| !found.contains(line));
        let extra = found.iter().filter(|line| !case.expected.contains(line));
        let difference: String = missing
            .map(|line| format!("  - {line}\n"))
            .chain(extra.map(|line| format!("  + {line}\n")))
            .collect();
        if !difference.is_empty() {
            failures.push_str(&format!("{}\n{difference}", case.name));
        }
    }
    assert!(failures.is_empty(), "expected (-) and found (+) differ:\n{failures}");
}

#[test]
fn blocks() {
    check(include_str!("facts/blocks.txt"));
}

#[test]
fn settings() {
    check(include_str!("facts/settings.txt"));
}

#[test]
fn modules() {
    check(include_str!("facts/modules.txt"));
}

#[test]
fn references() {
    check(include_str!("facts/references.txt"));
}

#[test]
fn json() {
    check(include_str!("facts/json.txt"));
}
