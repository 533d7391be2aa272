//! `provider` blocks, and references to them.

use std::fmt;
use std::sync::Arc;

use super::settings::VersionRequirement;
use crate::source::Span;
use crate::syntax::ast::Body;

/// A provider configuration in the words of one module: `aws`, `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalProviderConfig {
    /// The provider's local name.
    pub local_name: Arc<str>,
    /// The alias, for a configuration beside the default one.
    pub alias: Option<Arc<str>>,
}

impl LocalProviderConfig {
    /// The default configuration of a provider.
    pub fn default_of(local_name: impl Into<Arc<str>>) -> Self {
        Self { local_name: local_name.into(), alias: None }
    }
}

impl fmt::Display for LocalProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.local_name)?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}"),
            None => Ok(()),
        }
    }
}

/// A `provider` argument: names a configuration.
#[derive(Clone, Debug)]
pub struct ProviderReference {
    /// The configuration in the module's own words.
    pub config: LocalProviderConfig,
    /// Where the name stands.
    pub name_span: Span,
    /// Where the alias stands, with its dot.
    pub alias_span: Option<Span>,
}

/// A `provider` block.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// The provider's local name.
    pub local_name: Arc<str>,
    /// The alias.
    pub alias: Option<Arc<str>>,
    /// What the provider's schema describes: the body without meta-arguments.
    pub config: Arc<Body>,
    /// The deprecated `version` argument.
    pub version: Option<VersionRequirement>,
    /// Where the local name stands.
    pub name_span: Span,
    /// The block's header.
    pub span: Span,
}

impl ProviderConfig {
    /// The configuration in the module's own words.
    pub fn address(&self) -> LocalProviderConfig {
        LocalProviderConfig { local_name: self.local_name.clone(), alias: self.alias.clone() }
    }
}
