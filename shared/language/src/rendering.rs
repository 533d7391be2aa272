//! Diagnostics as people and tools read them.

mod console;
mod expression;
mod text;
mod wrapping;

use serde::Serialize;

use crate::diagnostics::{Diagnostic, FunctionCallNote, Severity};
use crate::source::{FileId, OutlineEntry, Position, Sources, Span};
use crate::syntax::{json, parse_body, quote};

pub use console::console_text;
pub use expression::{arguments_text, expression_text, string_literal};
pub use text::{Layout, render, render_text};
pub use wrapping::wrap;

/// A diagnostic with its place and source code, ready to be shown. Its serialized form is that of
/// `validate -json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticView {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// One line.
    pub summary: String,
    /// Sentences; may be empty.
    pub detail: String,
    /// The resource instance concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where the subject stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeView>,
    /// The source code around the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<SnippetView>,
}

/// A range of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RangeView {
    /// The file's name.
    pub filename: String,
    /// The first byte.
    pub start: PositionView,
    /// After the last byte.
    pub end: PositionView,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PositionView {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1.
    pub column: u32,
    /// Byte offset, from 0.
    pub byte: u32,
}

impl From<Position> for PositionView {
    fn from(Position { line, column, byte }: Position) -> Self {
        Self { line, column, byte }
    }
}

/// Whole lines of source code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetView {
    /// The header of the outermost block around the subject.
    pub context: Option<String>,
    /// The lines, without a newline at the end.
    pub code: String,
    /// The number of the first line.
    pub start_line: u32,
    /// Where the subject begins, in bytes of `code`.
    pub highlight_start_offset: usize,
    /// Where the subject ends, in bytes of `code`.
    pub highlight_end_offset: usize,
    /// The values that the failing expression saw.
    pub values: Vec<ValueView>,
    /// The function call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCallNote>,
}

/// What is known of one reference in a failing expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueView {
    /// The reference, `var.x`.
    pub traversal: String,
    /// What is said about it, `is "abc"`.
    pub statement: String,
}

/// Looks up a diagnostic's place and source code.
pub fn view(diagnostic: &Diagnostic, sources: &Sources) -> DiagnosticView {
    DiagnosticView {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        summary: diagnostic.summary.clone(),
        detail: diagnostic.detail.clone(),
        address: diagnostic.address.clone(),
        range: diagnostic.subject.map(|subject| range_view(subject, sources)),
        snippet: diagnostic.subject.and_then(|subject| snippet(diagnostic, subject, sources)),
    }
}

/// A diagnostic in the JSON form of `validate -json` and of the JSON streams.
pub fn to_json(diagnostic: &Diagnostic, sources: &Sources) -> serde_json::Value {
    serde_json::to_value(view(diagnostic, sources)).unwrap_or_default()
}

fn range_view(subject: Span, sources: &Sources) -> RangeView {
    let range = sources.range(subject);
    let mut end = PositionView::from(range.end);
    if subject.is_empty() {
        end.byte = end.byte.saturating_add(1);
        end.column = end.column.saturating_add(1);
    }
    RangeView { filename: range.filename.to_string(), start: range.start.into(), end }
}

/// An empty range is shown as one byte.
fn at_least_one_byte(span: Span) -> Span {
    if span.is_empty() { Span { end: span.start.saturating_add(1), ..span } } else { span }
}

fn snippet(diagnostic: &Diagnostic, subject: Span, sources: &Sources) -> Option<SnippetView> {
    if !sources.contains(subject.file) {
        return None;
    }
    let text = sources.text(subject.file);
    let shown = match diagnostic.context.filter(|context| !context.is_empty()) {
        Some(context) if subject.is_empty() => context,
        Some(context) => Span {
            start: subject.start.min(context.start),
            end: subject.end.max(context.end),
            ..subject
        },
        None => subject,
    };
    let shown = at_least_one_byte(shown);
    let highlight = at_least_one_byte(subject);
    let start_line = sources.position(shown.file, shown.start).line;

    let (first, lines) = lines_touching(&text, start_line, shown, sources);
    let code =
        lines.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>().join("\n");
    let offset = |at: u32| (at as usize).saturating_sub(first).min(code.len());
    let (start, end) = (offset(highlight.start), offset(highlight.end));
    let expression = diagnostic.expression.clone().unwrap_or_default();
    Some(SnippetView {
        context: context_header(highlight, sources),
        code,
        start_line,
        highlight_start_offset: start,
        highlight_end_offset: end,
        values: expression
            .values
            .into_iter()
            .map(|(traversal, statement)| ValueView { traversal, statement })
            .collect(),
        function_call: expression.function_call,
    })
}

/// The lines that `shown` covers, and the offset of the first of them. An empty line is left out:
/// no range covers it.
fn lines_touching<'t>(
    text: &'t [u8],
    start_line: u32,
    shown: Span,
    sources: &Sources,
) -> (usize, Vec<&'t [u8]>) {
    let (from, to) = (shown.start as usize, shown.end as usize);
    let mut at = sources.line_start(shown.file, start_line) as usize;
    let mut first = None;
    let mut lines = Vec::new();
    for line in text.get(at..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
        if at > to {
            break;
        }
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let end = at + content.len();
        let touches = (from < end && to >= at) || (from <= end && end < to);
        if !content.is_empty() && touches {
            first.get_or_insert(at);
            lines.push(content);
        }
        at += line.len();
    }
    (first.unwrap_or(0), lines)
}

/// The header of the block that the byte before the highlight is in.
fn context_header(highlight: Span, sources: &Sources) -> Option<String> {
    let at = highlight.start.checked_sub(1)?;
    let outline = sources.outline(highlight.file, || outline(highlight.file, sources));
    outline
        .iter()
        .rev()
        .find(|entry| entry.start <= at && at < entry.end)
        .map(|entry| entry.header.clone())
}

fn outline(file: FileId, sources: &Sources) -> Vec<OutlineEntry> {
    if sources.name(file).ends_with(".json") {
        return json::outline(sources, file);
    }
    let (body, _) = parse_body(sources, file);
    body.blocks
        .iter()
        .map(|block| {
            let mut header = block.type_name.to_string();
            for label in &block.labels {
                header.push(' ');
                header.push_str(&quote(&label.text));
            }
            let span = block.span();
            OutlineEntry { start: span.start, end: span.end, header }
        })
        .collect()
}
