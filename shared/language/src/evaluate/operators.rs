//! Operators.

use std::cmp::Ordering;

use values::convert::convert;
use values::{Number, Type, Value};

use super::conditional::Range;
use super::{Evaluator, Locals};
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{Binary, BinaryOperator, Expression, Unary, UnaryOperator};

impl Evaluator<'_> {
    pub(super) fn binary(
        &mut self,
        node: &Binary,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.diagnostics.len();
        let left = self.evaluate(&node.left, locals);
        let right = self.evaluate(&node.right, locals);
        let operand = operand_type(node.operator);
        let left = self.operand(left, &operand, "left", &node.left, expression, locals);
        let right = self.operand(right, &operand, "right", &node.right, expression, locals);
        let result = result_type(node.operator);
        if self.has_failed_since(start) {
            return Value::unknown(result);
        }
        let marks = left.marks() | right.marks();
        match operate(node.operator, &left.unmark(), &right.unmark()) {
            Ok(value) => value.with_marks(marks),
            Err(reason) => self.failed_operation(reason, result, expression, locals),
        }
    }

    pub(super) fn unary(
        &mut self,
        node: &Unary,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let ty = match node.operator {
            UnaryOperator::Negate => Type::Number,
            UnaryOperator::Not => Type::Bool,
        };
        let start = self.diagnostics.len();
        let operand = self.evaluate(&node.operand, locals);
        let operand = self.operand(operand, &ty, "unary", &node.operand, expression, locals);
        if self.has_failed_since(start) {
            return Value::unknown(ty);
        }
        let marks = operand.marks();
        if operand.is_null() {
            return self.failed_operation(NULL, ty, expression, locals);
        }
        let result = match node.operator {
            UnaryOperator::Negate => operand.as_number().map(|number| Value::number(number.neg())),
            UnaryOperator::Not => operand.as_bool().map(|value| Value::bool(!value)),
        };
        result.unwrap_or_else(|| Value::unknown_not_null(ty)).with_marks(marks)
    }

    fn operand(
        &mut self,
        value: Value,
        ty: &Type,
        side: &str,
        operand: &Expression,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        if *ty == Type::Dynamic {
            return value;
        }
        convert(&value, ty).unwrap_or_else(|error| {
            self.fail(
                Diagnostic::error(
                    "Invalid operand",
                    format!("Unsuitable value for {side} operand: {error}."),
                )
                .at(operand.span)
                .within(whole.span),
                operand,
                locals,
            );
            Value::unknown(ty.clone())
        })
    }

    fn failed_operation(
        &mut self,
        reason: &str,
        result: Type,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        self.fail(
            Diagnostic::error("Operation failed", format!("Error during operation: {reason}."))
                .at(expression.span),
            expression,
            locals,
        );
        Value::unknown(result)
    }
}

const NULL: &str = "argument must not be null";

fn operand_type(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Or | BinaryOperator::And => Type::Bool,
        BinaryOperator::Equal | BinaryOperator::NotEqual => Type::Dynamic,
        _ => Type::Number,
    }
}

fn result_type(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo => Type::Number,
        _ => Type::Bool,
    }
}

/// Operands are of the operator's type and without marks of their own.
fn operate(operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, &'static str> {
    match operator {
        BinaryOperator::Equal => return Ok(left.equals(right)),
        BinaryOperator::NotEqual => return Ok(not(left.equals(right))),
        _ => {}
    }
    if left.is_null() || right.is_null() {
        return Err(NULL);
    }
    if let BinaryOperator::And | BinaryOperator::Or = operator {
        return Ok(match (left.as_bool(), right.as_bool()) {
            (Some(left), Some(right)) => Value::bool(match operator {
                BinaryOperator::And => left && right,
                _ => left || right,
            }),
            _ => Value::unknown_not_null(Type::Bool),
        });
    }
    if result_type(operator) == Type::Bool {
        return Ok(match (left.as_number(), right.as_number()) {
            (Some(left), Some(right)) => Value::bool(holds(operator, left.cmp(right))),
            _ => compare_ranges(operator, left, right),
        });
    }
    let (Some(left), Some(right)) = (left.as_number(), right.as_number()) else {
        return Ok(Value::unknown_not_null(Type::Number));
    };
    calculate(operator, left, right).map(Value::number)
}

fn not(value: Value) -> Value {
    match value.as_bool() {
        Some(known) => Value::bool(!known).with_marks(value.marks()),
        None => value,
    }
}

fn holds(operator: BinaryOperator, ordering: Ordering) -> bool {
    match operator {
        BinaryOperator::Greater => ordering.is_gt(),
        BinaryOperator::GreaterOrEqual => ordering.is_ge(),
        BinaryOperator::Less => ordering.is_lt(),
        _ => ordering.is_le(),
    }
}

/// Bounds may decide a comparison of numbers that are not known.
fn compare_ranges(operator: BinaryOperator, left: &Value, right: &Value) -> Value {
    let (left, right) = (Range::of(left), Range::of(right));
    let below = |a: &Range, b: &Range| match (&a.max, &b.min) {
        (Some(max), Some(min)) => max.value < min.value,
        _ => false,
    };
    let greater = matches!(operator, BinaryOperator::Greater | BinaryOperator::GreaterOrEqual);
    if below(&left, &right) {
        Value::bool(!greater)
    } else if below(&right, &left) {
        Value::bool(greater)
    } else {
        Value::unknown_not_null(Type::Bool)
    }
}

fn calculate(
    operator: BinaryOperator,
    left: &Number,
    right: &Number,
) -> Result<Number, &'static str> {
    let (result, reason) = match operator {
        BinaryOperator::Add => (left.add(right), "can't compute sum of opposing infinities"),
        BinaryOperator::Subtract => (left.sub(right), "can't subtract infinity from itself"),
        BinaryOperator::Multiply => (left.mul(right), "can't multiply zero by infinity"),
        BinaryOperator::Divide => {
            (left.div(right), "can't divide zero by zero or infinity by infinity")
        }
        _ => (left.rem(right), "can't use modulo with zero and infinity"),
    };
    result.ok_or(reason)
}
