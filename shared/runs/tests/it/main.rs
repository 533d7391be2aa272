//! What functions share, through its public interface.

#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod api;
mod bundle;
mod definition;
mod deployment;
mod handlers;
mod key_file;
mod large_results;
mod modules;
mod policy;
mod project;
mod provider_mirror;
mod reports;
mod requests;
mod run_states;
mod state_machine;
mod steps;
mod surroundings;
mod template;
mod usual_requests;
