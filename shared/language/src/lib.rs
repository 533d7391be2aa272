//! The Terraform language: from files to syntax, modules and values.

pub mod diagnostics;
pub mod files;
pub mod module;
pub mod source;
pub mod syntax;
pub mod typeexpr;
pub mod version;
