//! Stands in for the evaluator until that is merged.

use values::Value;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::syntax::ast::{Expression, ExpressionKind, Literal};

/// The value of an expression that may use neither references nor functions.
pub fn constant(expression: &Expression) -> (Value, Diagnostics) {
    let value = match &expression.kind {
        ExpressionKind::Literal(Literal::Bool(value)) => Value::bool(*value),
        ExpressionKind::Literal(Literal::Null) => Value::dynamic_null(),
        ExpressionKind::Literal(Literal::Number(_)) => Value::number(1u64),
        _ => match expression.as_string_literal() {
            Some(text) => Value::shared_string(text.clone()),
            None => {
                let diagnostic = Diagnostic::error("Variables not allowed", "").at(expression.span);
                return (Value::dynamic(), diagnostic.into());
            }
        },
    };
    (value, Diagnostics::new())
}
