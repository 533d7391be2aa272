//! Behaviour of the language crate through its public interface.

mod conformance;
mod evaluate;
mod formatting;
mod modules;
mod rendering;
mod syntax;
mod variables;
