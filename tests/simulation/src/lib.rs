//! The real engine under a deterministic simulation.
//!
//! One seed decides everything: which configurations there are, which plans are made and applied when, in which order
//! requests are answered, what fails, who is killed or suspended. What runs is what `plumb` runs: the handlers of
//! `runs` and all of the engine below them. Only the stores, the clock, randomness and the provider are simulated;
//! every request and every sleep waits for the [`scheduler`], which lets one thing happen at a time.
//!
//! Afterwards a process without trouble brings the estate in order, and what must always hold is looked at.

pub mod breakage;
pub mod configuration;
pub mod dice;
pub mod faults;
pub mod focus;
mod idle;
mod invariants;
mod operator;
pub mod process;
pub mod provider;
mod recovery;
pub mod request;
mod scenario;
pub mod scheduler;
mod simulation;
pub mod storage;
pub mod store;
pub mod things;
pub mod trace;
pub mod world;

pub use simulation::{Report, Simulation};
