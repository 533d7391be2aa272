//! The engine: from configuration, records and providers to a plan, and from a plan to changes.

pub mod changes;
pub mod hooks;
pub mod object;
pub mod plan;
pub mod recorder;
pub mod state;
pub mod verdict;
