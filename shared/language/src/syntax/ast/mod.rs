//! Abstract syntax.
//!
//! Spans are those that diagnostics show, so they follow the reference parser: a template includes
//! its quotes, a binary operation runs from its left to its right operand. Expressions are cheap to
//! clone (children are shared). Trees may be deep: the parser admits [`MAX_NESTING`] levels, and
//! chains of operators or indexes nest to the left without limit, so whoever walks a tree
//! recursively grows the stack with [`with_stack`].

mod expressions;
mod statements;
mod templates;
mod traversals;

pub use expressions::{
    Binary, BinaryOperator, Conditional, Expression, ExpressionKind, ForObject, ForTuple,
    FunctionCall, Index, Literal, ObjectItem, ObjectKey, Splat, SplatForm, Unary, UnaryOperator,
};
pub use statements::{Attribute, Block, Body, Label};
pub use templates::{Template, TemplateFor, TemplateIf, TemplatePart};
pub use traversals::{IndexKey, RelativeTraversal, Traversal, TraversalStep};

/// How deep brackets, templates, operands and blocks may nest.
pub const MAX_NESTING: u32 = 20_000;

/// Runs `f` with enough stack for one more level of recursion.
pub fn with_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}

/// The syntax that a part of the configuration is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The native syntax.
    Native,
    /// JSON.
    Json,
}
