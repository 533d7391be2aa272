//! `module` blocks.

use std::sync::Arc;

use super::provider::ProviderReference;
use super::settings::VersionRequirement;
use super::{DependsOn, Repetition};
use crate::source::Span;
use crate::syntax::ast::{Body, Expression};

/// A call of a child module.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// Its name.
    pub name: Arc<str>,
    /// Where the child's files are.
    pub source: ModuleSource,
    /// Where the `source` expression stands.
    pub source_span: Span,
    /// `version`, for modules of a registry.
    pub version: Option<VersionRequirement>,
    /// The arguments for the child's variables: the body without meta-arguments.
    pub config: Arc<Body>,
    /// `count` or `for_each`.
    pub repetition: Repetition,
    /// `providers`: what the child's configurations are in the caller. Empty and absent differ
    /// for nothing but what is inherited.
    pub providers: Vec<PassedProvider>,
    /// What must be done before anything in the child.
    pub depends_on: DependsOn,
    /// The block's header.
    pub span: Span,
}

impl ModuleCall {
    /// `count`, if the block has it.
    pub fn count(&self) -> Option<&Expression> {
        self.repetition.count()
    }

    /// `for_each`, if the block has it.
    pub fn for_each(&self) -> Option<&Expression> {
        self.repetition.for_each()
    }
}

/// Where a child module's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// A path relative to the calling module, normalised: `./child`, `../other`.
    Local(Arc<str>),
    /// A module of a registry, with host where it is not the default one.
    Registry(Arc<str>),
    /// Anything that is fetched from elsewhere.
    Remote(Arc<str>),
}

impl ModuleSource {
    /// As it was written, normalised.
    pub fn as_str(&self) -> &str {
        match self {
            ModuleSource::Local(text)
            | ModuleSource::Registry(text)
            | ModuleSource::Remote(text) => text,
        }
    }
}

/// One entry of `providers`.
#[derive(Clone, Debug)]
pub struct PassedProvider {
    /// The configuration as the child calls it.
    pub in_child: ProviderReference,
    /// The configuration as the caller calls it.
    pub in_parent: ProviderReference,
}
