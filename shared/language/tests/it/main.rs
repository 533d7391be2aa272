//! The language as its users see it.
#![allow(clippy::unwrap_used, missing_docs)]

mod modules;
