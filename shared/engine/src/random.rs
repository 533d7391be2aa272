//! Randomness, handed in.

pub use language::functions::Random;
