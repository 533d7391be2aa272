//! Modules: from the files of a directory to a checked tree of configuration.
//!
//! [`load`] reads a root module and everything that it calls. What it gives is decoded as far as
//! no provider's schema is needed: the bodies of resources, providers and backends stay syntax.

mod address;
mod assemble;
mod check_rule;
mod decoder;
mod file;
mod load;
mod manifest;
mod module_call;
mod output;
mod provider;
mod provider_name;
mod provider_validation;
mod provisioner;
mod refactoring;
mod references;
mod resource;
mod settings;
mod source_address;
pub mod test_file;
mod tree;
mod variable;

use std::path::PathBuf;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use values::address::Resource;

pub use address::{is_reserved, reserved};
pub use check_rule::CheckRule;
pub use load::{InstalledModules, LoadOptions, load, read_module};
pub use manifest::{ManifestError, ModuleManifest, ModuleRecord, module_key};
pub use module_call::{ModuleCall, PassedProvider};
pub use output::{Local, Output};
pub use provider::{LocalProviderConfig, ProviderConfig, ProviderReference};
pub use provisioner::{Provisioner, ProvisionerOnFailure, ProvisionerWhen};
pub use refactoring::{Check, Import, MoveEndpoint, MoveSubject, Moved, Removed, RemovedSubject};
pub use references::{Available, validate_module_arguments, validate_references};
pub use resource::{Connection, IgnoreChanges, IgnoredPath, Lifecycle, ResourceBlock};
pub use settings::{
    Backend, Cloud, ProviderMeta, RequiredProvider, Settings, Storage, VersionRequirement,
};
pub use source_address::{
    DEFAULT_REGISTRY, ModuleSource, RegistryModule, RemoteModule, SourceError,
};
pub use tree::{Configuration, ModuleNode, ProviderRequirements};
pub use variable::{TextForm, Variable};

use crate::syntax::ast::{Expression, Traversal};

/// What must be done before, as references; checked to be references when decoded.
pub type DependsOn = Vec<Arc<Traversal>>;

/// The content of one directory: all declarations by name, in the order of files and lines.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Where the files are.
    pub directory: PathBuf,
    /// `terraform` blocks.
    pub settings: Settings,
    /// `variable` blocks.
    pub variables: IndexMap<Arc<str>, Variable>,
    /// `locals`.
    pub locals: IndexMap<Arc<str>, Local>,
    /// `output` blocks.
    pub outputs: IndexMap<Arc<str>, Output>,
    /// `resource`, `data` and `ephemeral` blocks.
    pub resources: IndexMap<Resource, ResourceBlock, RandomState>,
    /// `module` blocks.
    pub module_calls: IndexMap<Arc<str>, ModuleCall>,
    /// `provider` blocks.
    pub provider_configs: IndexMap<LocalProviderConfig, ProviderConfig>,
    /// `check` blocks.
    pub checks: IndexMap<Arc<str>, Check>,
    /// `moved` blocks.
    pub moved: Vec<Moved>,
    /// `removed` blocks.
    pub removed: Vec<Removed>,
    /// `import` blocks.
    pub imports: Vec<Import>,
}

/// How many instances a block has.
#[derive(Clone, Debug, Default)]
pub enum Repetition {
    /// One, without a key.
    #[default]
    Single,
    /// `count`: so many, with numbers for keys.
    Count(Expression),
    /// `for_each`: one for each element.
    ForEach(Expression),
}

impl Repetition {
    /// The `count` expression.
    pub fn count(&self) -> Option<&Expression> {
        match self {
            Repetition::Count(expression) => Some(expression),
            _ => None,
        }
    }

    /// The `for_each` expression.
    pub fn for_each(&self) -> Option<&Expression> {
        match self {
            Repetition::ForEach(expression) => Some(expression),
            _ => None,
        }
    }
}
