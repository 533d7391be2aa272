//! `plumb` as its users meet it: the program, its output and its exit codes.

#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod adoption;
mod approval;
mod bad_files;
mod checks;
mod completing;
mod conformance;
mod exit_codes;
mod explaining;
mod force_release;
mod formatting;
mod generating;
mod initialization;
mod lifecycle;
mod logging;
mod login;
mod migrate;
mod migrate_store;
mod module_test_cleanup;
mod module_tests;
mod modules;
mod outputs;
mod policy;
mod project;
mod providers;
mod provisioners;
mod pushing;
mod questions;
mod record_edits;
mod refusals;
mod runs;
mod scene;
mod serve;
mod snapshot;
mod stores;
mod verdicts;
mod workspaces;
