//! Values as expressions of the native syntax: what generated configuration is made of.

use crate::syntax::ast::with_stack;
use crate::syntax::{escape_literal, is_identifier};
use values::{Kind, Value};

/// An expression whose value is this one, apart from types that no expression gives: a list reads as a tuple. Its layout
/// is left to formatting. What is not known is null; marks are not looked at.
pub fn expression(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// A text in quotes, with nothing in it that could be taken for a template.
pub fn string_literal(text: &str) -> String {
    format!("\"{}\"", escape_literal(text))
}

fn write(value: &Value, out: &mut String) {
    match value.kind() {
        Kind::Null(_) | Kind::Unknown(..) => out.push_str("null"),
        Kind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Kind::Number(number) => out.push_str(&number.to_string()),
        Kind::String(text) => out.push_str(&string_literal(text)),
        Kind::List(..) | Kind::Set(..) | Kind::Tuple(_) => {
            out.push('[');
            for (index, element) in value.as_slice().unwrap_or_default().iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                with_stack(|| write(element, out));
            }
            out.push(']');
        }
        Kind::Map(..) | Kind::Object(_) => {
            let elements = value.as_map().filter(|elements| !elements.is_empty());
            let Some(elements) = elements else { return out.push_str("{}") };
            out.push_str("{\n");
            for (key, element) in elements.iter() {
                match is_identifier(key) {
                    true => out.push_str(key),
                    false => out.push_str(&string_literal(key)),
                }
                out.push_str(" = ");
                with_stack(|| write(element, out));
                out.push('\n');
            }
            out.push('}');
        }
    }
}
