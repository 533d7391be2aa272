//! The stores of the cloud against real servers, which `tests/end-to-end/stores` starts.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod conditions;
mod conformance;
mod contract;
mod faults;
mod key_refusals;
mod proxy;
mod server;
