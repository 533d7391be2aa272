//! The JSON of Terraform's state, plan and `jsonencode`.

use crate::{Type, Value};

/// A value or type cannot be read from or written as JSON.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(pub String);

/// Writes a known value compactly, numbers digit for digit. Marks are dropped: callers decide what
/// may be shown.
///
/// `ty` is the type that a reader will have: below [`Type::Dynamic`] a `{"type","value"}` pair is
/// written, as Terraform does.
///
/// # Errors
/// Where something is unknown or infinite.
pub fn to_json(value: &Value, ty: &Type) -> Result<String, JsonError> {
    let _ = (value, ty);
    Err(JsonError("pending".into()))
}

/// Reads what [`to_json`] wrote.
///
/// # Errors
/// Where the text is not JSON or not of the type.
pub fn from_json(text: &[u8], ty: &Type) -> Result<Value, JsonError> {
    let _ = (text, ty);
    Err(JsonError("pending".into()))
}
