//! `variable` blocks.

use std::sync::Arc;

use values::Value;

use super::CheckRule;
use crate::source::Span;
use crate::typeexpr::TypeConstraint;

/// An input variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// What values are converted to; `any` where the block has no `type`.
    pub constraint: TypeConstraint,
    /// The value where none is given, converted to the constraint. Without it the variable is
    /// required.
    pub default: Option<Value>,
    /// Whether null is a value. Where it is not, null stands for the default.
    pub nullable: bool,
    /// Whether the value is hidden.
    pub sensitive: bool,
    /// Whether the value is never stored.
    pub ephemeral: bool,
    /// Text for people.
    pub description: Option<Arc<str>>,
    /// Conditions on the value.
    pub validations: Vec<CheckRule>,
    /// How a value given as text (in the environment, on the command line) is read.
    pub text_form: TextForm,
    /// Where the `default` expression stands.
    pub default_span: Option<Span>,
    /// The block's header.
    pub span: Span,
}

/// How text becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// The text is the value, a string that is converted.
    Literal,
    /// The text is an expression.
    Expression,
}

impl Variable {
    /// Whether a value must be given.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}
