//! What a record store keeps for an estate: keys and bodies.
//!
//! The `records` crate sees keys and bytes; this room says what they mean.

pub mod body;
pub mod key;
