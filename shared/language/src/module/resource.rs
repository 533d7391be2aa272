//! `resource`, `data` and `ephemeral` blocks.

use std::sync::Arc;

use values::address::Resource;

use super::provider::{LocalProviderConfig, ProviderReference};
use super::{CheckRule, DependsOn, Provisioner, Repetition};
use crate::source::Span;
use crate::syntax::ast::{Body, Expression, TraversalStep};

/// A resource, data source or ephemeral resource.
#[derive(Clone, Debug)]
pub struct ResourceBlock {
    /// Its address in the module; the mode says which kind of block it is.
    pub address: Resource,
    /// What the provider's schema describes: the body without meta-arguments.
    pub config: Arc<Body>,
    /// `count` or `for_each`.
    pub repetition: Repetition,
    /// `provider`, where it is given.
    pub provider: Option<ProviderReference>,
    /// What must be done before.
    pub depends_on: DependsOn,
    /// The `lifecycle` block.
    pub lifecycle: Lifecycle,
    /// The `connection` block.
    pub connection: Option<Connection>,
    /// The `provisioner` blocks.
    pub provisioners: Vec<Provisioner>,
    /// The check block that a data source belongs to; its failure is a warning then.
    pub check: Option<Arc<str>>,
    /// The block's header.
    pub span: Span,
    /// Where the type's label stands.
    pub type_span: Span,
}

impl ResourceBlock {
    /// The provider configuration that the block names or implies, in the module's own words.
    pub fn provider_config(&self) -> LocalProviderConfig {
        match &self.provider {
            Some(reference) => reference.config.clone(),
            None => LocalProviderConfig {
                local_name: self.address.implied_provider().into(),
                alias: None,
            },
        }
    }

    /// `count`, if the block has it.
    pub fn count(&self) -> Option<&Expression> {
        self.repetition.count()
    }

    /// `for_each`, if the block has it.
    pub fn for_each(&self) -> Option<&Expression> {
        self.repetition.for_each()
    }
}

/// The `lifecycle` block.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Whether a replacement is created first; unset, what depends on the resource decides.
    pub create_before_destroy: Option<bool>,
    /// Whether a plan that destroys the resource is refused.
    pub prevent_destroy: Option<bool>,
    /// Differences that are not acted upon.
    pub ignore_changes: IgnoreChanges,
    /// References whose change replaces the resource.
    pub replace_triggered_by: Vec<Expression>,
    /// Conditions that must hold before the resource is planned.
    pub preconditions: Vec<CheckRule>,
    /// Conditions that must hold of the result.
    pub postconditions: Vec<CheckRule>,
}

/// Differences that are not acted upon.
#[derive(Clone, Debug, Default)]
pub enum IgnoreChanges {
    /// All are acted upon.
    #[default]
    None,
    /// None is acted upon.
    All,
    /// Those under these paths are not.
    Paths(Vec<IgnoredPath>),
}

/// A path of `ignore_changes`, relative to the resource: `tags["Name"]`.
#[derive(Clone, Debug)]
pub struct IgnoredPath {
    /// At least one step; the first is an attribute.
    pub steps: Vec<TraversalStep>,
    /// Where the path stands.
    pub span: Span,
}

/// A `connection` block.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}
