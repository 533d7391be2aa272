//! Conversion of values between types, and unification of types.

mod apply;
mod exists;
mod mismatch;
pub(crate) mod set_order;
mod unify;
mod unknown;

pub(crate) use apply::settle_elements;
pub use mismatch::mismatch_message;
pub use unify::{Unified, unify, unify_safe, unify_with};

use crate::{Path, Type, Value};

/// A value cannot be brought into a type.
#[derive(Debug, Clone, thiserror::Error, PartialEq)]
#[error("{message}")]
pub struct ConversionError {
    /// Where in the value.
    pub path: Path,
    /// What is wrong there, in Terraform's words ("a number is required").
    pub message: String,
}

impl ConversionError {
    /// The message with the path before it, as Terraform shows it beside the expression:
    /// `.a["k"]: a number is required`.
    pub fn with_path(&self) -> String {
        match self.path.is_root() {
            true => self.message.clone(),
            false => format!("{}: {}", self.path, self.message),
        }
    }
    /// As [`ConversionError::with_path`], the path following on an expression for the value:
    /// `var.x.a["k"]: a number is required`.
    pub fn with_path_after(&self, prefix: &str) -> String {
        format!("{prefix}{}: {}", self.path, self.message)
    }
}

/// Which conversions are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// Only those that never fail and lose nothing (no string to number).
    Safe,
    /// Those too that depend on the value.
    Unsafe,
}

/// Brings a value into a type constraint, as assignment to a typed variable does.
///
/// Marks and unknowns are kept. Optional attributes that are absent become null (defaults are the
/// caller's business); [`Type::Dynamic`] inside a constraint takes what comes. A value that conforms
/// already is returned as it is, sharing all that it holds.
///
/// # Errors
/// Where no conversion exists, with the path and Terraform's words.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConversionError> {
    apply::convert_at(value, ty, &mut Vec::new())
}

/// Whether values of type `from` can be brought into `to`, as far as the types alone can say.
pub fn conversion_exists(from: &Type, to: &Type, safety: Safety) -> bool {
    exists::equal_without_optional(from, to) || exists::exists(from, to, safety)
}
