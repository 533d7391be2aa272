//! The MessagePack form of values in the plugin protocol.

mod decode;
mod encode;

pub use decode::from_msgpack;
pub use encode::to_msgpack;

/// A value cannot be read from or written as MessagePack.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct MessagePackError(pub String);

type Result<T> = std::result::Result<T, MessagePackError>;

fn error<T>(message: impl Into<String>) -> Result<T> {
    Err(MessagePackError(message.into()))
}

/// Extension type of an unknown value of which something is known.
const REFINED: i8 = 12;

/// Keys of what is known, in the extension's map.
mod key {
    pub(super) const NULLNESS: i64 = 1;
    pub(super) const STRING_PREFIX: i64 = 2;
    pub(super) const NUMBER_MIN: i64 = 3;
    pub(super) const NUMBER_MAX: i64 = 4;
    pub(super) const LENGTH_MIN: i64 = 5;
    pub(super) const LENGTH_MAX: i64 = 6;
}
