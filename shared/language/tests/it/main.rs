//! Behaviour of the language crate through its public interface.

mod rendering;
mod syntax;
//! The language as its users see it.
#![allow(clippy::unwrap_used, missing_docs)]

mod modules;
