//! The engine: from configuration, records and providers to a plan, and from a plan to changes.

mod applying;
pub mod changes;
pub mod checks;
pub mod clock;
mod context;
mod environment;
pub mod estate;
mod evaluation;
pub mod existing_state;
mod graph;
pub mod hooks;
pub mod identifiers;
pub mod moving;
pub mod object;
mod object_change;
mod object_codec;
pub mod plan;
mod planning;
mod provider_diagnostics;
mod provider_pool;
pub mod random;
pub mod reads;
pub mod record;
pub mod recorder;
pub mod saved_plan;
pub mod stages;
pub mod state;
mod stop;
pub mod transaction;
pub mod verdict;
mod vertex;

pub use applying::{Applied, Ending};
pub use context::{Context, Variables};
pub use environment::Environment;
pub use planning::{PlanOptions, Target, ignored_paths};
pub use stop::{Deadline, Stop, StopCause, StopLevel};
