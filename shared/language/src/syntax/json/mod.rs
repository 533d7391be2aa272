//! The JSON syntax: the same trees as the native syntax gives.
//!
//! In JSON nothing tells an argument from a nested block, so a body's members stand in it as
//! attributes whose [`Syntax`] is JSON until a schema decides: [`unpack`] makes blocks of one.
//! A string is both a text and a template, and the place where it stands decides too: see
//! [`JsonString`].

mod blocks;
mod parser;
mod scanner;
mod text;

use super::ast::{Attribute, Body, Expression, ExpressionKind, Syntax};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{FileId, OutlineEntry, Sources, Span};

pub(crate) use blocks::{duplicate_argument, extraneous_property, members, unpack};
pub use text::JsonString;

/// Parses a whole file: an object, or an array of objects.
pub fn parse_json_body(sources: &Sources, file: FileId) -> (Body, Diagnostics) {
    let text = sources.text(file);
    let (value, mut diagnostics) = parser::parse(sources, file, &text);
    if matches!(value.kind, ExpressionKind::Object(_) | ExpressionKind::Tuple(_)) {
        let body = blocks::body_of(&value, &mut diagnostics);
        return (body, diagnostics);
    }
    diagnostics.push(not_a_body(&value));
    let span = Span::new(file, 0, 0);
    let body = Body {
        attributes: Vec::new(),
        blocks: Vec::new(),
        syntax: Syntax::Json,
        span,
        end_span: span,
    };
    (body, diagnostics)
}

/// Parses a file that has arguments alone: one object.
pub(crate) fn parse_json_arguments(
    sources: &Sources,
    file: FileId,
) -> (Vec<Attribute>, Diagnostics) {
    let text = sources.text(file);
    let (value, mut diagnostics) = parser::parse(sources, file, &text);
    match value.kind {
        ExpressionKind::Object(_) => {
            let arguments = blocks::arguments_of(&value, sources, &mut diagnostics);
            return (arguments, diagnostics);
        }
        ExpressionKind::Tuple(_) => diagnostics.push(
            Diagnostic::error(
                "Incorrect JSON value type",
                "A JSON object is required here, setting the arguments for this block.",
            )
            .at(value.start_span()),
        ),
        _ => diagnostics.push(not_a_body(&value)),
    }
    (Vec::new(), diagnostics)
}

fn not_a_body(value: &Expression) -> Diagnostic {
    Diagnostic::error(
        "Root value must be object",
        "The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.",
    )
    .at(value.start_span())
}

/// How deep the outline of a file goes; what is nested deeper is shown by what it is in.
const OUTLINE_DEPTH: usize = 16;

/// The objects and arrays of a file, outer ones first, by the path that leads to them.
pub(crate) fn outline(sources: &Sources, file: FileId) -> Vec<OutlineEntry> {
    let text = sources.text(file);
    let (value, _) = parser::parse(sources, file, &text);
    let mut entries = Vec::new();
    add_to_outline(&value, "", 0, &mut entries);
    entries
}

fn add_to_outline(value: &Expression, path: &str, depth: usize, entries: &mut Vec<OutlineEntry>) {
    if depth == OUTLINE_DEPTH {
        return;
    }
    let mut add = |value: &Expression, path: String| {
        if matches!(value.kind, ExpressionKind::Object(_) | ExpressionKind::Tuple(_)) {
            let (start, end) = (value.span.start, value.span.end);
            let header = path.strip_prefix('.').unwrap_or(&path).to_owned();
            entries.push(OutlineEntry { start, end, header });
            add_to_outline(value, &path, depth + 1, entries);
        }
    };
    match &value.kind {
        ExpressionKind::Tuple(items) => {
            for (index, item) in items.iter().enumerate() {
                add(item, format!("{path}[{index}]"));
            }
        }
        _ => {
            for member in members(value) {
                add(member.value, format!("{path}.{}", member.name));
            }
        }
    }
}
