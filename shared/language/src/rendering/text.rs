//! Diagnostics as text for a terminal or a log.

use std::borrow::Cow;
use std::fmt::Write;

use super::wrapping::wrap;
use super::{DiagnosticView, SnippetView, view};
use crate::diagnostics::{Diagnostic, FunctionSignature, Severity};
use crate::source::Sources;

/// How a diagnostic is set apart from what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Paragraphs alone.
    Plain,
    /// A rule on the left.
    Ruled,
    /// A rule on the left, with colours as terminal escape sequences.
    Coloured,
}

/// A diagnostic in Terraform's layout: coloured with a rule on the left, or plain.
///
/// `width` is the number of columns; 0 does not wrap.
pub fn render_text(
    diagnostic: &Diagnostic,
    sources: &Sources,
    width: usize,
    color: bool,
) -> String {
    render(diagnostic, sources, width, if color { Layout::Coloured } else { Layout::Plain })
}

/// A diagnostic in the given layout. `width` is the number of columns; 0 does not wrap.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, width: usize, layout: Layout) -> String {
    let view = view(diagnostic, sources);
    let paint = Paint { on: layout == Layout::Coloured };
    let (title, color) = match diagnostic.severity {
        Severity::Error => ("Error: ", "31"),
        Severity::Warning => ("Warning: ", "33"),
    };
    let mut text = String::new();
    if layout == Layout::Plain {
        text.push('\n');
    }
    let (bold, reset) = (paint.code("1"), paint.code("0"));
    let shade = paint.code(color);
    text.push_str(&format!("{bold}{shade}{title}{reset}{reset}"));
    let summary = visible(&view.summary);
    text.push_str(&format!("{bold}{summary}{reset}\n\n{reset}"));
    place(&mut text, &view, paint);
    let room = match layout {
        Layout::Plain => width.saturating_sub(1),
        Layout::Ruled | Layout::Coloured => width.saturating_sub(3),
    };
    detail(&mut text, &view.detail, room);
    if layout == Layout::Plain { text } else { ruled(&text, &shade, &reset) }
}

#[derive(Clone, Copy)]
struct Paint {
    on: bool,
}

impl Paint {
    fn code(self, code: &str) -> String {
        if self.on { format!("\x1b[{code}m") } else { String::new() }
    }
}

fn detail(text: &mut String, detail: &str, room: usize) {
    if detail.is_empty() {
        return;
    }
    for line in visible(detail).split('\n') {
        // Indented lines are code or tables.
        if room == 0 || line.starts_with(' ') {
            text.push_str(line);
        } else {
            text.push_str(&wrap(line, room));
        }
        text.push('\n');
    }
}

/// Puts a rule before each line.
fn ruled(text: &str, shade: &str, reset: &str) -> String {
    let mut ruled = format!("{shade}╷{reset}{reset}\n");
    for line in text.lines() {
        let prefix = format!("{shade}│{reset} {reset}");
        ruled.push_str(if line.is_empty() { prefix.trim_end() } else { &prefix });
        ruled.push_str(line);
        ruled.push('\n');
    }
    ruled.push_str(&format!("{shade}╵{reset}{reset}\n"));
    ruled
}

fn place(text: &mut String, view: &DiagnosticView, paint: Paint) {
    if let Some(address) = &view.address {
        text.push_str(&format!("  with {address},\n"));
    }
    let Some(range) = &view.range else { return };
    let (filename, line) = (visible(&range.filename), range.start.line);
    match &view.snippet {
        None => {
            text.push_str(&format!(
                "  on {filename} line {line}:\n  (source code not available)\n"
            ));
        }
        Some(snippet) => {
            let context = snippet
                .context
                .as_ref()
                .map_or_else(String::new, |header| format!(", in {header}"));
            text.push_str(&format!("  on {filename} line {line}{context}:\n"));
            code(text, snippet, paint);
            values(text, snippet, paint);
        }
    }
    text.push('\n');
}

fn code(text: &mut String, snippet: &SnippetView, paint: Paint) {
    let code = &snippet.code;
    let start = boundary(code, snippet.highlight_start_offset);
    let end = boundary(code, snippet.highlight_end_offset).max(start);
    let reset = paint.code("0");
    let marked = format!(
        "{}{}{}{reset}{}{reset}",
        visible(&last_of_line(&code[..start])),
        paint.code("4"),
        visible(&starts_of_lines(&code[start..end])),
        visible(&starts_of_lines(&code[end..])),
    );
    for (line, number) in marked.split('\n').zip(snippet.start_line..) {
        let _ = writeln!(text, "{number:4}: {line}");
    }
}

/// Source lines are shown up to so many bytes before, in and after what is underlined: a file that is no
/// configuration may have lines of megabytes.
const LONGEST: usize = 2_000;

/// A text whose last line is cut at its start, if it is too long.
fn last_of_line(text: &str) -> Cow<'_, str> {
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    match text.len() - line > LONGEST {
        true => {
            let from = boundary(text, text.len() - LONGEST);
            format!("{}…{}", &text[..line], &text[from..]).into()
        }
        false => text.into(),
    }
}

/// A text whose lines are cut at their ends, if they are too long.
fn starts_of_lines(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(|line| line.len() <= LONGEST) {
        return text.into();
    }
    let cut = |line: &str| match line.len() > LONGEST {
        true => format!("{}…", &line[..boundary(line, LONGEST)]),
        false => line.to_owned(),
    };
    text.split('\n').map(cut).collect::<Vec<_>>().join("\n").into()
}

/// The next character boundary at or after `at`.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

fn values(text: &mut String, snippet: &SnippetView, paint: Paint) {
    let call = snippet.function_call.as_ref();
    let call = call.and_then(|call| Some((&call.called_as, call.signature.as_ref()?)));
    if snippet.values.is_empty() && call.is_none() {
        return;
    }
    let (bold, grey, reset) = (paint.code("1"), paint.code("90"), paint.code("0"));
    text.push_str(&format!("    {grey}├────────────────{reset}\n{reset}"));
    if let Some((name, signature)) = call {
        let parameters = parameter_names(signature);
        text.push_str(&format!(
            "    {grey}│{reset} while calling {bold}{name}{reset}({reset}{parameters})\n"
        ));
    }
    let mut values: Vec<_> = snippet.values.iter().collect();
    values.sort_by(|left, right| left.traversal.cmp(&right.traversal));
    for value in values {
        let (traversal, statement) = (&value.traversal, &value.statement);
        text.push_str(&format!("    {grey}│{reset} {bold}{traversal}{reset} {statement}\n{reset}"));
    }
}

fn parameter_names(signature: &FunctionSignature) -> String {
    let positional = signature.params.iter().map(|parameter| parameter.name.clone());
    let variadic =
        signature.variadic_param.iter().map(|parameter| format!("{}...", parameter.name));
    positional.chain(variadic).collect::<Vec<_>>().join(", ")
}

/// Control characters as their pictures, so that a file's content cannot steer the terminal.
fn visible(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\r' | '\t' => character,
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or(character),
            '\u{7f}' => '\u{2421}',
            _ => character,
        })
        .collect()
}
