//! What functions share.

pub mod key_file;
