//! The JSON of Terraform's state, plan and `jsonencode`.
//!
//! Numbers are kept digit for digit, strings are brought into normal form C, `<`, `>` and `&` are
//! written as escapes. Nesting is taken up to [`MAX_DEPTH`] levels.

mod plain;
mod plan;
mod reader;
mod typed;
mod types;
mod writer;

pub use plain::{decode, encode, implied_type};
pub use plan::{known_part, sensitive_as_bool, unknown_as_bool};
pub use typed::{from_json, to_json};
pub use types::{type_from_json, type_to_json};

/// Deepest nesting that is read.
pub const MAX_DEPTH: usize = 10_000;

/// A value or type cannot be read from or written as JSON.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(pub String);

type Result<T> = std::result::Result<T, JsonError>;

fn error<T>(message: impl Into<String>) -> Result<T> {
    Err(JsonError(message.into()))
}
