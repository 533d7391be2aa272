//! Values as the console shows them: what could be written in a configuration, with conversions
//! where a type would not show otherwise.

use crate::evaluate::ConsoleResult;
use crate::syntax::ast::with_stack;
use crate::syntax::quote;
use std::fmt::Write as _;
use values::{PathStep, Type, Value};

const STEP: usize = 2;

/// What the console prints for a result, without a newline at the end.
pub fn console_text(result: &ConsoleResult) -> String {
    match result {
        ConsoleResult::Type(text) => text.clone(),
        ConsoleResult::Value(value) => {
            let mut text = String::new();
            write(value, 0, &mut text);
            text
        }
    }
}

fn write(value: &Value, indent: usize, out: &mut String) {
    if !value.is_known() {
        return out.push_str("(known after apply)");
    }
    if value.marks().is_sensitive() {
        return out.push_str("(sensitive value)");
    }
    if value.marks().is_ephemeral() {
        return out.push_str("(ephemeral value)");
    }
    let ty = value.ty();
    if value.is_null() {
        return write_null(&ty, out);
    }
    let (open, close) = match ty {
        Type::List(_) => ("tolist([", "])"),
        Type::Set(_) => ("toset([", "])"),
        Type::Map(_) => ("tomap({", "})"),
        Type::Tuple(_) => ("[", "]"),
        Type::Object(_) => ("{", "}"),
        Type::String => return write_string(value.as_str().unwrap_or_default(), indent, out),
        Type::Number => {
            let number = value.as_number().map(ToString::to_string);
            return out.push_str(&number.unwrap_or_default());
        }
        Type::Bool | Type::Dynamic => {
            return out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" });
        }
    };
    out.push_str(open);
    let inner = indent + STEP;
    let mut any = false;
    value.for_each_child(|step, child| {
        any = true;
        new_line(inner, out);
        let key = match step {
            PathStep::Attribute(name) | PathStep::Key(name) => Some(name),
            PathStep::Index(_) | PathStep::Element(_) => None,
        };
        if let Some(key) = &key {
            write_string(key, inner, out);
            out.push_str(" = ");
        }
        with_stack(|| write(child, inner, out));
        if key.is_none() {
            out.push(',');
        }
    });
    if any {
        new_line(indent, out);
    }
    out.push_str(close);
}

fn new_line(indent: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn write_null(ty: &Type, out: &mut String) {
    let (conversion, of) = match ty {
        Type::Dynamic => return out.push_str("null"),
        Type::String => return out.push_str("tostring(null)"),
        Type::Number => return out.push_str("tonumber(null)"),
        Type::Bool => return out.push_str("tobool(null)"),
        Type::List(element) => ("tolist(null)", element.friendly_name()),
        Type::Set(element) => ("toset(null)", element.friendly_name()),
        Type::Map(element) => ("tomap(null)", element.friendly_name()),
        Type::Tuple(_) | Type::Object(_) => {
            let _ = write!(out, "null /* {} */", ty.friendly_name());
            return;
        }
    };
    let _ = write!(out, "{conversion} /* of {of} */");
}

/// In quotes; several lines as a heredoc.
fn write_string(text: &str, indent: usize, out: &mut String) {
    if !text.contains('\n') {
        return out.push_str(&quote(text));
    }
    let mut marker = "EOT".to_owned();
    while text.split('\n').any(|line| line.trim() == marker) {
        marker.push('_');
    }
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&marker);
    for line in text.split('\n').chain([&*marker]) {
        new_line(indent, out);
        out.push_str(line);
    }
}
