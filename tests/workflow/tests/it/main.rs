//! The main job with the real programs: `plumb`, and the test provider as a plugin.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod concurrent;
mod deaths;
mod drift;
mod edits;
mod ephemeral;
mod estate;
mod interrupted;
mod killed;
mod main_job;
mod partial_results;
mod programs;
mod provider_meta;
mod provisioned;
mod regressions;
mod replacement;
mod resumed;
mod secrets;
mod served;
mod slices;
mod soak;
mod unanswered;
