//! Names with static steps.

use super::Expression;
use crate::source::Span;
use std::sync::Arc;

/// A root name and static steps from it.
#[derive(Clone, Debug)]
pub struct Traversal {
    /// The root name.
    pub root: Arc<str>,
    /// Where the root name stands.
    pub root_span: Span,
    /// Steps in order.
    pub steps: Vec<TraversalStep>,
}

impl Traversal {
    /// From the root name to the last step.
    pub fn span(&self) -> Span {
        self.steps.last().map_or(self.root_span, |step| self.root_span.to(step.span()))
    }
}

/// One static step.
#[derive(Clone, Debug)]
pub enum TraversalStep {
    /// `.name`
    Attribute {
        /// The name.
        name: Arc<str>,
        /// With the dot.
        span: Span,
    },
    /// `[0]`, `["key"]`, `.0`
    Index {
        /// The key.
        key: IndexKey,
        /// With the brackets or dot.
        span: Span,
    },
    /// `[*]`, only in traversals that are not evaluated.
    Splat {
        /// With the brackets.
        span: Span,
    },
}

impl TraversalStep {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            TraversalStep::Attribute { span, .. }
            | TraversalStep::Index { span, .. }
            | TraversalStep::Splat { span } => *span,
        }
    }
}

/// A key that is a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexKey {
    /// The digits as written.
    Number(Arc<str>),
    /// The text, escapes resolved.
    String(Arc<str>),
    /// Refused when evaluated, as the reference does.
    Bool(bool),
    /// Refused when evaluated.
    Null,
    /// Stands where a syntax error was reported; unknown.
    Invalid,
}

/// Static steps from another expression.
#[derive(Debug)]
pub struct RelativeTraversal {
    /// Where the steps start from.
    pub source: Expression,
    /// Steps in order.
    pub steps: Vec<TraversalStep>,
}
