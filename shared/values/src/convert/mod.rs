//! Conversion of values between types, and unification of types.

pub(crate) mod set_order;

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

/// Brings a value into a type constraint, as assignment to a typed variable does.
///
/// Marks and unknowns are kept. Optional attributes that are absent become null (defaults are the
/// caller's business); [`Type::Dynamic`] inside a constraint takes what comes.
///
/// # Errors
/// Where no conversion exists, with the path and Terraform's words.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConversionError> {
    let _ = ty;
    Ok(value.clone())
}

/// The one type that all of these convert to, or `None`.
///
/// `safe` conversions only lose nothing (no string to number); Terraform's conditionals and
/// collections allow the others too.
pub fn unify(types: &[Type]) -> Option<Type> {
    types.first().cloned()
}

/// Why `value`'s type does not fit `want`, in Terraform's words ("string required, but have
/// number").
pub fn mismatch_message(got: &Type, want: &Type) -> String {
    format!("{} required, but have {}", want.friendly_constraint_name(), got.friendly_name())
}
