//! The engine: from configuration, records and providers to a plan, and from a plan to changes.

pub mod changes;
pub mod clock;
pub mod estate;
pub mod existing_state;
pub mod hooks;
pub mod identifiers;
pub mod object;
pub mod plan;
pub mod random;
pub mod record;
pub mod recorder;
pub mod saved_plan;
pub mod stages;
pub mod state;
pub mod transaction;
pub mod verdict;
