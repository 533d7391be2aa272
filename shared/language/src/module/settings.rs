//! The `terraform` block: what a module asks of its surroundings.

use std::sync::Arc;

use indexmap::IndexMap;
use values::address::ProviderAddress;

use super::provider::LocalProviderConfig;
use crate::source::Span;
use crate::syntax::ast::Body;
use crate::version::VersionConstraints;

/// The merged content of a module's `terraform` blocks.
#[derive(Debug, Default)]
pub struct Settings {
    /// `required_version`, one for each block that has it. Checked when the module was loaded.
    pub required_version: Vec<VersionRequirement>,
    /// `required_providers`, by local name.
    pub required_providers: IndexMap<Arc<str>, RequiredProvider>,
    /// Where `required_providers` stands, if there is one.
    pub required_providers_span: Option<Span>,
    /// Where state is kept.
    pub storage: Option<Storage>,
    /// `provider_meta`, by local name.
    pub provider_metas: IndexMap<Arc<str>, ProviderMeta>,
}

impl Settings {
    /// The `backend` block.
    pub fn backend(&self) -> Option<&Backend> {
        match &self.storage {
            Some(Storage::Backend(backend)) => Some(backend),
            _ => None,
        }
    }

    /// The `cloud` block.
    pub fn cloud(&self) -> Option<&Cloud> {
        match &self.storage {
            Some(Storage::Cloud(cloud)) => Some(cloud),
            _ => None,
        }
    }
}

/// Where state is kept: of the two blocks a module may have only one.
#[derive(Clone, Debug)]
pub enum Storage {
    /// A `backend` block.
    Backend(Backend),
    /// A `cloud` block.
    Cloud(Cloud),
}

/// A `backend` block.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The kind of backend, for example `s3`.
    pub kind: Arc<str>,
    /// Where the kind stands.
    pub kind_span: Span,
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

/// A `cloud` block.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

/// A `provider_meta` block.
#[derive(Clone, Debug)]
pub struct ProviderMeta {
    /// The provider's local name.
    pub local_name: Arc<str>,
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

/// One entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// The name that the module uses for the provider.
    pub local_name: Arc<str>,
    /// The `source` argument as written.
    pub source: Option<Arc<str>>,
    /// The provider that is meant.
    pub provider: ProviderAddress,
    /// The `version` argument.
    pub version: Option<VersionRequirement>,
    /// Configurations that the module expects from its caller.
    pub configuration_aliases: Vec<LocalProviderConfig>,
    /// Where the entry's value stands.
    pub span: Span,
}

/// A version constraint as written.
#[derive(Clone, Debug)]
pub struct VersionRequirement {
    /// The text.
    pub text: Arc<str>,
    /// Its meaning.
    pub constraints: VersionConstraints,
    /// Where the argument stands, from its name.
    pub span: Span,
}
