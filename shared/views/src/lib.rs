//! Views: text, JSON and HTML from events, plans, states and verdicts, written to what is handed in.
//!
//! - [`plan_text`] and [`plan_json`]: a plan, from a [`PlanView`].
//! - [`configuration_json`]: the configuration in the JSON of a plan.
//! - [`state_text`], [`state_json`] and [`outputs`]: a state, from a [`ShownState`].
//! - [`progress`] and [`stream`]: hooks that tell what happens, for people and for programs.
//! - [`live`]: what is under way, below those lines at a terminal.
//! - [`explanation`]: why a plan does what it does with one resource instance.
//! - [`sets`]: what a saved plan changes and looked at.
//! - [`verdicts`]: what the stages of a saved plan came to.
//! - [`contract`]: what stores guarantee, and why one is refused.
//! - [`diagnostics`]: errors and warnings.
//! - [`run_report`] and [`drift_report`]: what is told of a run and of drift; [`page`] and [`comment`] write them.
//! - [`module_tests`] and [`junit`]: what the tests of a module come to.
//!
//! Sensitive values are written nowhere but in the JSON of plans, states and outputs, which
//! programs ask for and which says of each value whether it is sensitive.

mod activity;
mod checks;
mod colour;
pub mod comment;
pub mod configuration_json;
pub mod contract;
pub mod dependency_graph;
pub mod diagnostics;
mod diff;
pub mod drift_report;
mod ephemeral;
pub mod explanation;
pub mod function_signatures;
mod json;
pub mod junit;
mod layout;
pub mod live;
pub mod module_tests;
mod module_tree;
mod object_label;
mod order;
pub mod outputs;
pub mod page;
pub mod plan_json;
pub mod plan_text;
mod plan_view;
pub mod product;
pub mod progress;
pub mod provider_schemas;
pub mod provider_tree;
mod relevant_attributes;
pub mod run_history;
pub mod run_report;
pub mod sets;
mod shown_state;
pub mod state_json;
pub mod state_text;
pub mod stream;
mod unanswered;
pub mod unified_diff;
mod value_json;
pub mod verdicts;
mod visible;

pub use activity::Clock;
pub use checks::checks_json;
pub use colour::Colour;
pub use json::{Escape, Json};
pub use layout::DEFAULT_WIDTH;
pub use plan_view::{Import, PlanView, RelevantAttribute};
pub use relevant_attributes::relevant_attributes;
pub use shown_state::{ShownInstance, ShownState};
pub use value_json::type_json;
