//! Errors and warnings, for people and for programs.

use crate::colour::Colour;
use crate::json::{Escape, Fields, write_array};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::rendering::{Layout, render, view};
use language::source::Sources;
use std::io::{self, Write};

/// Version of the JSON of `validate -json`.
pub const FORMAT_VERSION: &str = "1.0";

/// How diagnostics are laid out.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosticOptions {
    /// Whether there are colours and a rule on the left.
    pub colour: Colour,
    /// Columns; 0 does not wrap.
    pub width: usize,
}

/// Writes diagnostics in the order in which Terraform reports them: warnings first, then by place.
///
/// # Errors
/// Those of the writer.
pub fn write_text(
    diagnostics: &Diagnostics,
    sources: &Sources,
    options: DiagnosticOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = match options.colour {
        Colour::Plain => Layout::Plain,
        Colour::Ansi => Layout::Coloured,
    };
    diagnostics
        .clone()
        .sorted(sources)
        .iter()
        .try_for_each(|d| out.write_all(render(d, sources, options.width, layout).as_bytes()))
}

/// Writes the result of `validate -json`: whether the configuration is valid, and all diagnostics.
///
/// # Errors
/// Those of the writer.
pub fn write_validation(
    diagnostics: &Diagnostics,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let sorted = diagnostics.clone().sorted(sources);
    let mut text = String::new();
    let mut fields = Fields::begin(&mut text, Escape::Html);
    fields.string("format_version", FORMAT_VERSION);
    fields.bool("valid", errors == 0);
    fields.raw("error_count", errors);
    fields.raw("warning_count", diagnostics.len() - errors);
    write_array(sorted.iter(), fields.key("diagnostics"), |d, out| push(d, sources, out));
    fields.end();
    // Terraform indents this document.
    writeln!(out, "{}", indent(&text))
}

fn push(diagnostic: &Diagnostic, sources: &Sources, out: &mut String) {
    // Serializing plain data cannot fail.
    let text = serde_json::to_string(&view(diagnostic, sources)).unwrap_or_default();
    // In JSON these stand in strings alone, where Terraform escapes them.
    for c in text.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            c => out.push(c),
        }
    }
}

/// Indents JSON by two spaces, keeping the order of its fields.
fn indent(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let (mut in_string, mut escaped) = (false, false);
    let mut chars = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                match chars.next_if(|n| matches!(n, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => out.push(c),
        }
    }
    out
}
