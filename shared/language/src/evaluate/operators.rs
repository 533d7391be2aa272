//! Operators.

use values::convert::convert;
use values::{OperationError, Type, Value};

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
        match operate(node.operator, &left, &right) {
            Ok(value) => value,
            Err(reason) => self.failed_operation(&reason, result, expression, locals),
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
        let result = match node.operator {
            UnaryOperator::Negate => operand.neg(),
            UnaryOperator::Not => operand.not(),
        };
        result.unwrap_or_else(|reason| self.failed_operation(&reason, ty, expression, locals))
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
        reason: &OperationError,
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

fn operate(operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, OperationError> {
    match operator {
        BinaryOperator::Or => left.or(right),
        BinaryOperator::And => left.and(right),
        BinaryOperator::Equal => Ok(left.equals(right)),
        BinaryOperator::NotEqual => Ok(left.not_equals(right)),
        BinaryOperator::Greater => left.gt(right),
        BinaryOperator::GreaterOrEqual => left.ge(right),
        BinaryOperator::Less => left.lt(right),
        BinaryOperator::LessOrEqual => left.le(right),
        BinaryOperator::Add => left.add(right),
        BinaryOperator::Subtract => left.sub(right),
        BinaryOperator::Multiply => left.mul(right),
        BinaryOperator::Divide => left.div(right),
        BinaryOperator::Modulo => left.rem(right),
    }
}
