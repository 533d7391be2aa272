//! Conditions with an error message: `validation`, `precondition`, `postcondition`, `assert`.

use crate::source::Span;
use crate::syntax::ast::Expression;

/// A condition that must hold, and what is said where it does not.
#[derive(Clone, Debug)]
pub struct CheckRule {
    /// Must evaluate to true.
    pub condition: Expression,
    /// What is said where the condition is false.
    pub error_message: Expression,
    /// The block's header.
    pub span: Span,
}
