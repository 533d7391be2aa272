//! The crate through its public interface.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod numbers;
