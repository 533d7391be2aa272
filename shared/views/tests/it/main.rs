//! Views through their public interfaces.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod configuration;
mod contract;
mod diagnostics;
mod hooks;
mod live;
mod pages;
mod plans;
mod reader;
mod recorded;
mod states;
