//! Values as expressions of the native syntax that evaluate to something like them.

use std::sync::Arc;

use values::{Kind, Value};

use crate::formatting::lay_out_text;
use crate::syntax::ast::with_stack;
use crate::syntax::{escape_literal, is_identifier};

/// An expression, laid out, whose value is the given one but for its exact type: a list is written as a tuple, a map
/// as an object. What is not known is written as null; marks are ignored.
pub fn expression_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    laid_out(&text)
}

/// Arguments, one a line, each with its value. Names must be identifiers.
pub fn arguments_text<'v>(arguments: impl IntoIterator<Item = (&'v str, &'v Value)>) -> String {
    let mut text = String::new();
    for (name, value) in arguments {
        text.push_str(name);
        text.push_str(" = ");
        write(value, &mut text);
        text.push('\n');
    }
    laid_out(&text)
}

/// A text in quotes, with nothing in it that could be taken for a template.
pub fn string_literal(text: &str) -> String {
    format!("\"{}\"", escape_literal(text))
}

fn laid_out(text: &str) -> String {
    String::from_utf8(lay_out_text(text.as_bytes())).unwrap_or_default()
}

fn write(value: &Value, out: &mut String) {
    let value = value.unmark();
    match value.kind() {
        Kind::Bool(true) => out.push_str("true"),
        Kind::Bool(false) => out.push_str("false"),
        Kind::Number(number) => out.push_str(&number.to_string()),
        Kind::String(text) => out.push_str(&string_literal(text)),
        Kind::List(_, items) | Kind::Set(_, items) | Kind::Tuple(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                with_stack(|| write(item, out));
            }
            out.push(']');
        }
        Kind::Map(_, items) | Kind::Object(items) => write_entries(items.iter(), out),
        _ => out.push_str("null"),
    }
}

fn write_entries<'v>(
    entries: impl ExactSizeIterator<Item = (&'v Arc<str>, &'v Value)>,
    out: &mut String,
) {
    out.push('{');
    if entries.len() > 0 {
        out.push('\n');
    }
    for (at, (key, value)) in entries.enumerate() {
        // An object whose first name is `for` would be read as a loop.
        match is_identifier(key) && (at > 0 || &**key != "for") {
            true => out.push_str(key),
            false => out.push_str(&string_literal(key)),
        }
        out.push_str(" = ");
        with_stack(|| write(value, out));
        out.push('\n');
    }
    out.push('}');
}
