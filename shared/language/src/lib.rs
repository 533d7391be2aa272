//! The Terraform language: from files to syntax, modules and values.

pub mod diagnostics;
pub mod rendering;
pub mod source;
pub mod syntax;
