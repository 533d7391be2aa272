//! Behaviour of the language crate through its public interface.

mod rendering;
mod syntax;
