//! What holds of any input holds of those that were kept, and of deep and long ones.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "inputs that cannot be read, or fail, end the test"
)]

mod deep;
mod kept;
