//! What functions share: the same handlers behind `plumb` and behind every function.
//!
//! - [`source`]: configuration from a directory or from a saved plan.
//! - [`plan`], [`validate`], [`apply`]: the three handlers; what they work in is a [`Workplace`].
//! - [`adopt`], [`dismiss`]: what a person decides about results that could not be recorded and creates in doubt.
//! - [`edit`]: records changed without a provider: moved, forgotten, marked.
//! - [`force_release`]: a transaction ended of which a person knows that it is dead.
//! - [`history`]: who did what, and when.
//! - [`contract`]: what a store has to guarantee, asserted.
//! - [`import`]: objects that exist, recorded.
//! - [`local_deployment`]: what a stack has in the cloud, in a folder of one machine.
//! - [`state_machine`]: the definition of a run, worked off in this process.
//! - [`migrate`]: the state of Terraform taken over, and given back.
//! - [`migrate_store`]: an estate on its way to another store.
//! - [`modules`]: modules that a configuration calls, installed from registries, archives, repositories and buckets.
//! - [`plan_key`], [`key_file`], [`kms_key`]: the key that authenticates plans, in a file or in AWS KMS.
//! - [`policy`]: a program of the team's own that looks at plans before anybody approves them.
//! - [`project`]: `plumb.toml`: the store and the estates.
//! - [`push`]: a state file put in place of an estate's records.
//! - [`remote_api`]: the API of a deployment, asked from elsewhere.
//! - [`remote_state`]: outputs of other states, for the builtin provider.
//! - [`stores`]: the stores that a project names, opened.
//! - [`state`]: what records say, decoded for views.
//! - [`terraform_backend`]: the state that Terraform keeps in a backend, read.
//! - [`workspace`]: the workspaces of an estate, each an estate of its own.

pub mod adopt;
pub mod api;
pub mod apply;
pub mod approval;
pub mod artifact;
pub mod bundle;
pub mod contract;
pub mod deployment;
pub mod deployment_stores;
mod discretion;
pub mod dismiss;
pub mod edit;
mod error;
pub mod executions;
pub mod force_release;
pub mod function_environment;
pub mod generate;
pub mod history;
pub mod import;
pub mod key_file;
pub mod kms_key;
pub mod local_deployment;
pub mod migrate;
pub mod migrate_store;
pub mod modules;
pub mod plan;
pub mod plan_key;
pub mod policy;
pub mod principal;
pub mod project;
pub mod provider_mirror;
pub mod push;
pub mod remote_api;
pub mod remote_state;
pub mod report;
pub mod repository_host;
pub mod run_reference;
pub mod run_state;
pub mod schedule;
pub mod secrets;
pub mod shown_plan;
pub mod source;
pub mod state;
pub mod state_machine;
pub mod steps;
pub mod stores;
pub mod terraform_backend;
pub mod validate;
pub mod webhook;
mod workplace;
pub mod workspace;

pub use error::{RunError, sentence};
pub use workplace::{Workplace, locked_providers};
