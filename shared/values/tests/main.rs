//! The crate through its public interface.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod addresses;
mod codecs;
mod conversion;
mod nesting;
mod numbers;
mod operations;
mod samples;
mod schemas;
