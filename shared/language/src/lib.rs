//! The Terraform language: from files to syntax, modules and values.

pub mod decode;
pub mod diagnostics;
pub mod evaluate;
pub mod files;
pub mod formatting;
pub mod functions;
pub mod module;
pub mod reads;
pub mod reference;
pub mod rendering;
pub mod scope;
pub mod source;
pub mod syntax;
pub mod typeexpr;
pub mod variables;
pub mod version;
