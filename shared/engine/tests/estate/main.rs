//! Records, estates, transactions, saved plans and stages, through their public interfaces.

#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod adoption;
mod body;
mod claims;
mod copying;
mod crashes;
mod editing;
mod existing_state;
mod key;
mod provisioning;
mod reading;
mod recorder;
mod saved_plan;
mod snapshot;
mod stages;
mod support;
mod takeover;
mod taking_over;
mod transaction;
