//! A provider whose world is a folder, for tests of everything that talks to providers.
//!
//! Each object is a file, `TYPE/ID.json` in the folder that the provider is configured with; a test
//! makes drift by editing it. `calls.log` in the folder lists every call, one JSON object a line.
//! Attributes of `test_thing` make it slow, fail, or fail half way. Where the environment has
//! `TEST_PROVIDER_KILL_PARENT_AFTER`, whoever started the provider is killed once so many calls have ended.
//! Where it has `TEST_PROVIDER_REQUEST_TOKENS`, the provider knows request tokens; where it has
//! `TEST_PROVIDER_NAME_IDENTITY`, a thing is identified by its name.

mod encoding;
mod ephemeral;
mod functions;
mod nested;
mod parricide;
mod request_tokens;
mod schemas;
mod server;
mod service;
mod thing;
mod world;

pub use server::serve;
pub use world::{CALLS, LoggedCall, World};
