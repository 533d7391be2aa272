//! language

pub mod files;
pub mod functions;
