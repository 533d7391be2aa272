//! What functions share, through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod key_file;
