//! The plugin protocol: its messages, and how values and schemas travel in them.
//!
//! Protocol 5 and 6 share one set of messages, those of 6, since they are the same on the wire
//! but for what [`Version`] and the `tfplugin5` module say.

pub(crate) mod codec;
pub(crate) mod methods;
pub(crate) mod schema;
#[allow(missing_docs, unreachable_pub, dead_code, clippy::all)]
#[rustfmt::skip]
pub(crate) mod tfplugin5;
/// The messages of protocol 6, generated from `proto/tfplugin6.proto`.
#[allow(missing_docs, unreachable_pub, dead_code, clippy::all)]
#[rustfmt::skip]
pub mod tfplugin6;

pub use codec::{from_dynamic_value, to_dynamic_value};

/// A major version of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Protocol 5.
    V5,
    /// Protocol 6.
    V6,
}
