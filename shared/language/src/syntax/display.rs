//! Static traversals as text, in the form in which they are written.

use std::fmt;

use super::ast::{IndexKey, Traversal, TraversalStep};
use super::literal::quote;

impl fmt::Display for Traversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        self.steps.iter().try_for_each(|step| step.fmt(f))
    }
}

impl fmt::Display for TraversalStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraversalStep::Attribute { name, .. } => write!(f, ".{name}"),
            TraversalStep::Index { key, .. } => write!(f, "[{key}]"),
            TraversalStep::Splat { .. } => f.write_str("[*]"),
        }
    }
}

impl fmt::Display for IndexKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexKey::Number(text) => f.write_str(text),
            IndexKey::String(text) => f.write_str(&quote(text)),
            IndexKey::Bool(value) => write!(f, "{value}"),
            IndexKey::Null => f.write_str("null"),
            IndexKey::Invalid => f.write_str("..."),
        }
    }
}
