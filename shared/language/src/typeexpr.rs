//! Type constraints. Stands in for the evaluator's own until that is merged.

use values::convert::{ConversionError, convert};
use values::{Type, Value};

use crate::diagnostics::Diagnostics;
use crate::syntax::ast::Expression;

/// A type constraint with the defaults of its optional attributes.
#[derive(Clone, Debug)]
pub struct TypeConstraint {
    /// The type.
    pub ty: Type,
}

impl From<Type> for TypeConstraint {
    fn from(ty: Type) -> Self {
        Self { ty }
    }
}

impl TypeConstraint {
    /// Reads a constraint.
    pub fn parse(expression: &Expression) -> (Self, Diagnostics) {
        let ty = match expression.as_keyword() {
            Some("string") => Type::String,
            Some("number") => Type::Number,
            Some("bool") => Type::Bool,
            _ => Type::Dynamic,
        };
        (Self { ty }, Diagnostics::new())
    }

    /// Brings a value into the constraint.
    ///
    /// # Errors
    /// Where that cannot be.
    pub fn convert(&self, value: &Value) -> Result<Value, ConversionError> {
        convert(value, &self.ty)
    }
}
