//! Test files: `*.tftest.hcl` and `*.tftest.json`, which plan and apply a module and say what should come of it.
//!
//! [`load`] finds and reads them. [`UnderTest`] is the module as a run sees it: with the file's providers in place of
//! its own, and without the modules that are overridden.

mod address;
mod decode;
mod discovery;
mod mocks;
mod options;
mod under_test;
mod written_values;

use std::sync::Arc;

use indexmap::IndexMap;
use values::Value;
use values::address::{ModuleInstance, ResourceInstance};

use super::{CheckRule, LocalProviderConfig, PassedProvider, ProviderConfig};
use crate::source::Span;
use crate::syntax::ast::{Expression, Traversal};

pub use address::{parse_expected_failure, parse_replaced, parse_targeted};
pub use discovery::{DEFAULT_DIRECTORY, load};
pub use options::{PlanMode, PlanOptions};
pub use under_test::UnderTest;

/// One test file.
#[derive(Clone, Debug, Default)]
pub struct TestFile {
    /// Its path, relative to the root module, with forward slashes.
    pub name: Arc<str>,
    /// The runs, in their order.
    pub runs: Vec<Run>,
    /// Values for variables of all runs.
    pub variables: IndexMap<Arc<str>, Expression>,
    /// Providers for all runs.
    pub providers: IndexMap<LocalProviderConfig, TestProvider>,
    /// What stands in for resources, data sources and modules in all runs.
    pub overrides: Vec<Override>,
}

/// One `run` block.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub name: Arc<str>,
    /// What is done.
    pub command: Command,
    /// How it is planned.
    pub options: PlanOptions,
    /// Values for variables.
    pub variables: IndexMap<Arc<str>, Expression>,
    /// Providers of the file in place of those of the module; where there are none, all of the file's count.
    pub providers: Vec<PassedProvider>,
    /// What must hold afterwards.
    pub asserts: Vec<CheckRule>,
    /// What is expected to fail.
    pub expect_failures: Vec<Arc<Traversal>>,
    /// The module that is run in place of the one under test.
    pub module: Option<RunModule>,
    /// Which state is used in place of the module's own.
    pub state_key: Option<Arc<str>>,
    /// What stands in for resources, data sources and modules.
    pub overrides: Vec<Override>,
    /// The block's header.
    pub span: Span,
}

/// What a run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Command {
    /// It plans and applies.
    #[default]
    Apply,
    /// It plans alone.
    Plan,
}

/// The module that a run has in place of the one under test.
#[derive(Clone, Debug)]
pub struct RunModule {
    /// Where it is; `None` where that was reported as wrong.
    pub source: Option<super::ModuleSource>,
    /// The address as it is written.
    pub written: Arc<str>,
    /// The block's header.
    pub span: Span,
}

/// A provider of a test file.
#[derive(Clone, Debug)]
pub struct TestProvider {
    /// The block; of a mock without any arguments.
    pub config: ProviderConfig,
    /// What stands in for the provider, if it is mocked.
    pub mock: Option<Mock>,
}

/// What stands in for a provider.
#[derive(Clone, Debug, Default)]
pub struct Mock {
    /// Values of computed attributes, by type of managed resource.
    pub resources: IndexMap<Arc<str>, Values>,
    /// The same, by type of data source.
    pub data: IndexMap<Arc<str>, Values>,
    /// What stands in for certain resources of it.
    pub overrides: Vec<Override>,
}

/// Values in place of what a provider would compute.
#[derive(Clone, Debug)]
pub struct Values {
    /// An object; attributes that it lacks are made up.
    pub value: Value,
    /// Whether they are known while planning already.
    pub known_in_plan: bool,
    /// Where they are written.
    pub span: Span,
}

/// An `override_resource`, `override_data` or `override_module` block.
#[derive(Clone, Debug)]
pub struct Override {
    /// What is replaced.
    pub target: OverrideTarget,
    /// With what: attributes, or outputs.
    pub values: Values,
    /// Where the target is written.
    pub target_span: Span,
}

/// What an override replaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OverrideTarget {
    /// An instance of a resource or data source, or all its instances where it has no key.
    Resource(ResourceInstance),
    /// A module, in all instances where it has no key.
    Module(ModuleInstance),
}

impl std::fmt::Display for OverrideTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OverrideTarget::Resource(address) => write!(f, "{address}"),
            OverrideTarget::Module(address) => write!(f, "{address}"),
        }
    }
}
