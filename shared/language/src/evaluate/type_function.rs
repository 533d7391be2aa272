//! `type`, which the console alone has.

use std::fmt::Write as _;

use values::{Type, Value};

use super::{Evaluator, Locals};
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{Expression, ExpressionKind, FunctionCall};

/// What the console shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleResult {
    /// A value.
    Value(Value),
    /// The text that `type` gives, shown without quotes.
    Type(String),
}

/// Evaluates a line of the console; `None` where it failed.
pub(super) fn console(
    evaluator: &mut Evaluator<'_>,
    expression: &Expression,
) -> Option<ConsoleResult> {
    evaluator.check_references(expression);
    if !evaluator.refused.is_empty() {
        return None;
    }
    evaluator.console = true;
    let call = type_call(expression);
    let argument = match call.map(|call| call.arguments.as_slice()) {
        Some([argument]) => argument,
        _ => expression,
    };
    let value = evaluator.evaluate(argument, Locals::Outermost);
    if mentions_type(argument) && evaluator.diagnostics.is_empty() {
        evaluator.diagnostics.push(Diagnostic::error(
            "Invalid use of type function",
            "The console-only \"type\" function cannot be used as part of an expression.",
        ));
    }
    if !evaluator.diagnostics.is_empty() || !evaluator.refused.is_empty() {
        return None;
    }
    Some(match std::ptr::eq(argument, expression) {
        true => ConsoleResult::Value(value),
        false => ConsoleResult::Type(type_text(&value.ty())),
    })
}

impl Evaluator<'_> {
    pub(super) fn type_of(&self, value: &Value) -> Value {
        Value::string(type_text(&value.ty()))
    }
}

fn is_type(call: &FunctionCall) -> bool {
    matches!(&*call.name, "type" | "core::type")
}

fn type_call(expression: &Expression) -> Option<&FunctionCall> {
    match &expression.without_parentheses().kind {
        ExpressionKind::FunctionCall(call) if is_type(call) && !call.expand_final => Some(call),
        _ => None,
    }
}

fn mentions_type(expression: &Expression) -> bool {
    let mut found = false;
    crate::reference::visit_traversals(expression, None, &mut |visit| {
        if let crate::reference::Visit::Call(call) = visit {
            found |= is_type(call);
        }
    });
    found
}

/// A type over several lines, as the console shows it.
pub fn type_text(ty: &Type) -> String {
    let mut text = String::new();
    write_type(ty, 0, &mut text);
    text
}

fn write_type(ty: &Type, indent: usize, out: &mut String) {
    let mut within = |name: &str, element: &Type| {
        out.push_str(name);
        out.push('(');
        match element {
            Type::Tuple(_) | Type::Object(_) => {
                let _ = write!(out, "\n{:1$}", "", (indent + 1) * 4);
                write_type(element, indent + 1, out);
                let _ = write!(out, ",\n{:1$}", "", indent * 4);
            }
            _ => write_type(element, indent, out),
        }
        out.push(')');
    };
    match ty {
        Type::Dynamic => out.push_str("dynamic"),
        Type::Bool => out.push_str("bool"),
        Type::Number => out.push_str("number"),
        Type::String => out.push_str("string"),
        Type::List(element) => within("list", element),
        Type::Set(element) => within("set", element),
        Type::Map(element) => within("map", element),
        Type::Tuple(elements) if elements.is_empty() => out.push_str("tuple([])"),
        Type::Tuple(elements) => {
            out.push_str("tuple([\n");
            for element in elements.iter() {
                let _ = write!(out, "{:1$}", "", (indent + 1) * 4);
                write_type(element, indent + 1, out);
                out.push_str(",\n");
            }
            let _ = write!(out, "{:1$}])", "", indent * 4);
        }
        Type::Object(object) if object.attributes.is_empty() => out.push_str("object({})"),
        Type::Object(object) => {
            out.push_str("object({\n");
            for (name, ty) in &object.attributes {
                let _ = write!(out, "{:1$}{name}: ", "", (indent + 1) * 4);
                write_type(ty, indent + 1, out);
                out.push_str(",\n");
            }
            let _ = write!(out, "{:1$}}})", "", indent * 4);
        }
    }
}
