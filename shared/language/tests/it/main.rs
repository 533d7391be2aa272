//! Behaviour of the language crate through its public interface.

mod evaluate;
mod rendering;
mod syntax;
