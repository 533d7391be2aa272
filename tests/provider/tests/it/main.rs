//! The test provider against the plugin client, and the code generated for both.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attached;
mod commands;
mod generated;
mod lifecycle;
mod process;
mod scene;
mod watchdog;
