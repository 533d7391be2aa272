//! Behaviour of the providers crate that needs no plugin.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod archives;
mod builtin;
mod builtin_functions;
mod cli_config;
mod credentials_helper;
mod hash;
mod https;
mod install;
mod lock;
mod mirrors;
mod network;
mod openpgp;
mod plugin_cache;
mod proxies;
mod registry;
mod version;
