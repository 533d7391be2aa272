//! `output` blocks and `locals`.

use std::sync::Arc;

use super::{CheckRule, DependsOn};
use crate::source::Span;
use crate::syntax::ast::Expression;

/// An output value.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub expression: Expression,
    /// Whether the value may be hidden.
    pub sensitive: bool,
    /// Whether the value is never stored.
    pub ephemeral: bool,
    /// What must be done before the value is taken.
    pub depends_on: DependsOn,
    /// Conditions that must hold before the value is taken.
    pub preconditions: Vec<CheckRule>,
    /// Text for people.
    pub description: Option<Arc<str>>,
    /// The block's header.
    pub span: Span,
}

/// A local value.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub expression: Expression,
    /// From the name to the end of the value.
    pub span: Span,
}
