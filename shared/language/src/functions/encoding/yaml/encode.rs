//! Block style with all strings in quotes, or literal where they have several lines. The form is that
//! of Terraform byte for byte, since resources compare it.

use super::super::super::call::CallError;
use values::{Kind, Value};

/// The column after which long strings are broken.
const WIDTH: usize = 80;
/// The longest key that is written on one line with its colon, in bytes.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Writes a document.
pub(in super::super) fn encode(value: &Value) -> Result<String, CallError> {
    let mut writer = Writer { out: String::new() };
    writer.node(value, 0, Place::Root)?;
    writer.out.push('\n');
    // A plain scalar has no end of its own.
    if matches!(value.kind(), Kind::Null(_) | Kind::Bool(_) | Kind::Number(_)) {
        writer.out.push_str("...\n");
    }
    // Literal strings that keep their line breaks end with one already.
    while writer.out.ends_with("\n\n\n")
        || (writer.out.ends_with("\n\n") && value.as_str().is_none_or(|s| !s.ends_with('\n')))
    {
        if keeps_breaks(value) {
            break;
        }
        writer.out.pop();
    }
    Ok(writer.out)
}

fn keeps_breaks(value: &Value) -> bool {
    match value.kind() {
        Kind::String(s) => s.ends_with("\n\n") || &**s == "\n",
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => e.last().is_some_and(keeps_breaks),
        Kind::Map(_, e) | Kind::Object(e) => e.values().next_back().is_some_and(keeps_breaks),
        _ => false,
    }
}

struct Writer {
    out: String,
}

/// What a node is part of.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    /// After `key:`
    Value,
    /// After `- ` or `? `
    Item,
}

impl Writer {
    /// Starts a line, unless one was started already.
    fn line(&mut self, indent: usize) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str(&" ".repeat(indent));
    }

    /// Writes a node whose collection is indented so far; where an item follows `- ` its first line
    /// is started already.
    fn node(&mut self, value: &Value, indent: usize, place: Place) -> Result<(), CallError> {
        let space = if place == Place::Value { " " } else { "" };
        match value.kind() {
            Kind::Null(_) => self.out.extend([space, "null"]),
            Kind::Bool(b) => self.out.extend([space, if *b { "true" } else { "false" }]),
            Kind::Number(n) => {
                self.out.push_str(space);
                self.out.push_str(&n.to_string());
            }
            Kind::String(s) => {
                self.out.push_str(space);
                let indent = if place == Place::Root { 2 } else { indent + 2 };
                self.string(s, indent);
            }
            Kind::Unknown(..) => return Err(CallError::other("cannot encode an unknown value")),
            Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => {
                if e.is_empty() {
                    self.out.extend([space, "[]"]);
                    return Ok(());
                }
                stacker::maybe_grow(64 << 10, 1 << 20, || self.items(e, indent, place))?;
            }
            Kind::Map(_, e) | Kind::Object(e) => {
                if e.is_empty() {
                    self.out.extend([space, "{}"]);
                    return Ok(());
                }
                let pairs = e.iter().map(|(k, v)| (&**k, v));
                stacker::maybe_grow(64 << 10, 1 << 20, || self.pairs(pairs, indent, place))?;
            }
        }
        Ok(())
    }

    fn items(&mut self, items: &[Value], indent: usize, place: Place) -> Result<(), CallError> {
        // A sequence in a mapping is not indented further.
        let indent = if place == Place::Item { indent + 2 } else { indent };
        for (i, item) in items.iter().enumerate() {
            if i > 0 || place != Place::Item {
                self.line(indent);
            }
            self.out.push_str("- ");
            self.node(item, indent, Place::Item)?;
        }
        Ok(())
    }

    fn pairs<'v>(
        &mut self,
        pairs: impl Iterator<Item = (&'v str, &'v Value)>,
        indent: usize,
        place: Place,
    ) -> Result<(), CallError> {
        let indent = if place == Place::Root { 0 } else { indent + 2 };
        for (i, (key, value)) in pairs.enumerate() {
            if i > 0 || place != Place::Item {
                self.line(indent);
            }
            if !key.contains('\n') && key.len() <= LONGEST_SIMPLE_KEY {
                self.quoted(key, indent + 2, false);
                self.out.push(':');
                self.node(value, indent, Place::Value)?;
                continue;
            }
            self.out.push_str("? ");
            self.string(key, indent + 2);
            self.line(indent);
            self.out.push_str(": ");
            self.node(value, indent, Place::Item)?;
        }
        Ok(())
    }

    fn string(&mut self, text: &str, indent: usize) {
        let literal = text.contains('\n')
            && !text.contains(" \n")
            && !text.ends_with(' ')
            && text.chars().all(|c| c == '\n' || is_printable(c));
        match literal {
            true => self.literal(text, indent),
            false => self.quoted(text, indent, true),
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        match text.strip_suffix('\n') {
            None => self.out.push('-'),
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => self.out.push('+'),
            Some(_) => {}
        }
        self.out.push('\n');
        let lines = text.strip_suffix('\n').unwrap_or(text);
        for (i, line) in lines.split('\n').enumerate() {
            if i > 0 {
                self.out.push('\n');
            }
            if !line.is_empty() {
                self.out.push_str(&" ".repeat(indent));
                self.out.push_str(line);
            }
        }
        if text.ends_with('\n') && (lines.is_empty() || lines.ends_with('\n')) {
            self.out.push('\n');
        }
    }

    fn quoted(&mut self, text: &str, indent: usize, may_break: bool) {
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        let mut column = self.out.get(line..).map_or(0, |l| l.chars().count());
        self.out.push('"');
        column += 1;
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == ' ' {
                let last = chars.peek().is_none();
                if may_break && !after_space && column > WIDTH && at > 0 && !last {
                    self.out.push('\n');
                    self.out.push_str(&" ".repeat(indent));
                    column = indent;
                    if chars.peek().is_some_and(|(_, next)| *next == ' ') {
                        self.out.push('\\');
                        column += 1;
                    }
                } else {
                    self.out.push(' ');
                    column += 1;
                }
                after_space = true;
                continue;
            }
            after_space = false;
            let escape = match c {
                '"' => "\\\"".to_owned(),
                '\\' => "\\\\".to_owned(),
                '\0' => "\\0".to_owned(),
                '\u{7}' => "\\a".to_owned(),
                '\u{8}' => "\\b".to_owned(),
                '\t' => "\\t".to_owned(),
                '\n' => "\\n".to_owned(),
                '\u{b}' => "\\v".to_owned(),
                '\u{c}' => "\\f".to_owned(),
                '\r' => "\\r".to_owned(),
                '\u{1b}' => "\\e".to_owned(),
                '\u{85}' => "\\N".to_owned(),
                '\u{2028}' => "\\L".to_owned(),
                '\u{2029}' => "\\P".to_owned(),
                c if is_printable(c) => {
                    self.out.push(c);
                    column += 1;
                    continue;
                }
                c if (c as u32) < 0x100 => format!("\\x{:02X}", c as u32),
                c if (c as u32) < 0x1_0000 => format!("\\u{:04X}", c as u32),
                c => format!("\\U{:08X}", c as u32),
            };
            self.out.push_str(&escape);
            column += escape.len();
        }
        self.out.push('"');
    }
}

/// Whether a character may stand for itself.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}
