//! Terraform's state files, format version 4: read when an estate is taken over, and written for whoever still reads
//! them.

mod form;
mod reading;
mod writing;

pub use reading::{StateFileError, read};
pub use writing::write;

/// The format that is read and written.
const FORMAT: u64 = 4;
