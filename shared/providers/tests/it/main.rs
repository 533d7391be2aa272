//! Behaviour of the providers crate that needs no plugin.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod builtin;
mod builtin_functions;
mod cli_config;
mod hash;
mod install;
mod lock;
mod version;
