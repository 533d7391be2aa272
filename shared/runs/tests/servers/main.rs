//! What functions share against real servers, which `tests/end-to-end/stores` starts.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod plan_key;
