//! Behaviour of the language crate through its public interface.

mod modules;
mod rendering;
mod syntax;
mod variables;
