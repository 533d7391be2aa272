//! The MessagePack form of values in the plugin protocol.

use crate::{Type, Value};

/// A value cannot be read from or written as MessagePack.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct MessagePackError(pub String);

/// Writes a value of the type; unknowns with their refinements. Marks are dropped.
///
/// # Errors
/// Where the value is not of the type.
pub fn to_msgpack(value: &Value, ty: &Type) -> Result<Vec<u8>, MessagePackError> {
    let _ = (value, ty);
    Err(MessagePackError("pending".into()))
}

/// Reads a value of the type.
///
/// # Errors
/// Where the bytes are not MessagePack or not of the type.
pub fn from_msgpack(bytes: &[u8], ty: &Type) -> Result<Value, MessagePackError> {
    let _ = (bytes, ty);
    Err(MessagePackError("pending".into()))
}
