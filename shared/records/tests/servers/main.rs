//! The stores of the cloud against real servers, which `tests/end-to-end/stores` starts.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod conditions;
mod conformance;
mod contract;
mod key_refusals;
mod faults;
mod proxy;
mod server;
