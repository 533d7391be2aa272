//! Behaviour of the providers crate that needs no plugin.

mod builtin;
mod cli_config;
mod hash;
mod install;
mod lock;
mod version;
