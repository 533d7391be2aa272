//! Root outputs: as people, scripts and programs read them.

use crate::json::{Escape, Json, deep};
use crate::value_json::{known, type_json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use values::{Kind, Type, Value};

/// An output cannot be shown raw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RawOutputError {
    /// It is a collection.
    #[error(
        "The -raw option only supports strings, numbers, and boolean values, but output value \
         {name:?} is {type_name}.\n\nUse the -json option for machine-readable representations of \
         output values that have complex types."
    )]
    NotPrimitive {
        /// The output.
        name: String,
        /// What it is.
        type_name: String,
    },
    /// It is null.
    #[error("The value for output value {name:?} is null, so -raw mode cannot print it.")]
    Null {
        /// The output.
        name: String,
    },
}

/// Writes all outputs, sensitive ones without their values.
///
/// # Errors
/// Those of the writer.
pub fn write_all(outputs: &BTreeMap<Arc<str>, Value>, out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in outputs {
        match value.marks().is_sensitive() {
            true => writeln!(out, "{name} = <sensitive>")?,
            false => writeln!(out, "{name} = {}", format_value(value))?,
        }
    }
    Ok(())
}

/// Writes one output's value, as an expression. It was asked for by name, so it is shown even if
/// the output is sensitive.
///
/// # Errors
/// Those of the writer.
pub fn write_one(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", format_value(&value.unmark_deep()))
}

/// Writes all outputs as JSON: sensitivity, type and value by name.
///
/// # Errors
/// Those of the writer.
pub fn write_all_json(outputs: &BTreeMap<Arc<str>, Value>, out: &mut dyn Write) -> io::Result<()> {
    let of = |value: &Value| {
        Json::object([
            ("sensitive", Json::Bool(value.marks().is_sensitive())),
            ("type", type_json(&value.ty())),
            ("value", known(value)),
        ])
    };
    let all = Json::object(outputs.iter().map(|(name, value)| (name.clone(), of(value))));
    let mut text = String::new();
    all.write_indented(Escape::Html, 0, &mut text);
    writeln!(out, "{text}")
}

/// Writes one output's value as JSON.
///
/// # Errors
/// Those of the writer.
pub fn write_one_json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", known(value).to_text(Escape::Html))
}

/// One output's value as a script takes it: no quotes, no newline.
///
/// # Errors
/// Where it is null or a collection.
pub fn raw(name: &str, value: &Value) -> Result<String, RawOutputError> {
    match value.kind() {
        Kind::String(s) => Ok(s.to_string()),
        Kind::Number(n) => Ok(n.to_string()),
        Kind::Bool(b) => Ok(b.to_string()),
        Kind::Null(t) if t.is_primitive() || *t == Type::Dynamic => {
            Err(RawOutputError::Null { name: name.to_owned() })
        }
        _ => Err(RawOutputError::NotPrimitive {
            name: name.to_owned(),
            type_name: value.ty().friendly_name(),
        }),
    }
}

/// A value as an expression that gives it, over several lines.
pub fn format_value(value: &Value) -> String {
    let mut out = String::new();
    push_value(value, 0, &mut out);
    out
}

fn push_value(value: &Value, indent: usize, out: &mut String) {
    if value.marks().is_sensitive() {
        return out.push_str("(sensitive value)");
    }
    if value.marks().is_ephemeral() {
        return out.push_str("(ephemeral value)");
    }
    deep(|| match value.kind() {
        Kind::Unknown(..) => out.push_str("(known after apply)"),
        Kind::Null(ty) => push_null(ty, out),
        Kind::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Kind::Number(n) => {
            let _ = write!(out, "{n}");
        }
        Kind::String(s) if s.contains('\n') => push_heredoc(s, indent, out),
        Kind::String(s) => out.push_str(&crate::diff::quoted(s)),
        Kind::List(_, e) => push_call("tolist", out, |out| push_sequence(e, indent, out)),
        Kind::Set(_, e) => push_call("toset", out, |out| push_sequence(e, indent, out)),
        Kind::Map(_, e) => push_call("tomap", out, |out| push_mapping(e, indent, out)),
        Kind::Tuple(e) => push_sequence(e, indent, out),
        Kind::Object(e) => push_mapping(e, indent, out),
    });
}

fn push_call(function: &str, out: &mut String, argument: impl FnOnce(&mut String)) {
    out.push_str(function);
    out.push('(');
    argument(out);
    out.push(')');
}

fn push_null(ty: &Type, out: &mut String) {
    let text = match ty {
        Type::Dynamic => "null".to_owned(),
        Type::String => "tostring(null)".to_owned(),
        Type::Number => "tonumber(null)".to_owned(),
        Type::Bool => "tobool(null)".to_owned(),
        Type::List(t) => format!("tolist(null) /* of {} */", t.friendly_name()),
        Type::Set(t) => format!("toset(null) /* of {} */", t.friendly_name()),
        Type::Map(t) => format!("tomap(null) /* of {} */", t.friendly_name()),
        Type::Tuple(_) | Type::Object(_) => format!("null /* {} */", ty.friendly_name()),
    };
    out.push_str(&text);
}

fn push_line(indent: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn push_sequence(items: &[Value], indent: usize, out: &mut String) {
    out.push('[');
    for item in items {
        push_line(indent + 2, out);
        push_value(item, indent + 2, out);
        out.push(',');
    }
    if !items.is_empty() {
        push_line(indent, out);
    }
    out.push(']');
}

fn push_mapping(items: &BTreeMap<Arc<str>, Value>, indent: usize, out: &mut String) {
    out.push('{');
    for (key, item) in items {
        push_line(indent + 2, out);
        match key.contains('\n') {
            true => push_heredoc(key, indent + 2, out),
            false => out.push_str(&crate::diff::quoted(key)),
        }
        out.push_str(" = ");
        push_value(item, indent + 2, out);
    }
    if !items.is_empty() {
        push_line(indent, out);
    }
    out.push('}');
}

fn push_heredoc(text: &str, indent: usize, out: &mut String) {
    let mut delimiter = "EOT".to_owned();
    while text.split('\n').any(|line| line.trim() == delimiter) {
        delimiter.push('_');
    }
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&delimiter);
    for line in text.split('\n') {
        push_line(indent, out);
        out.push_str(line);
    }
    push_line(2 * indent, out);
    out.push_str(&delimiter);
}
