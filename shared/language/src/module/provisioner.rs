//! `provisioner` blocks.

use std::sync::Arc;

use super::Connection;
use crate::source::Span;
use crate::syntax::ast::Body;

/// A command that runs when a resource was created or is destroyed.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// The kind, for example `local-exec`.
    pub kind: Arc<str>,
    /// Its arguments.
    pub config: Arc<Body>,
    /// Its own `connection` block.
    pub connection: Option<Connection>,
    /// When it runs.
    pub when: ProvisionerWhen,
    /// What a failure means.
    pub on_failure: ProvisionerOnFailure,
    /// The block's header.
    pub span: Span,
    /// Where the kind stands.
    pub kind_span: Span,
}

/// When a provisioner runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerWhen {
    /// After the resource was created.
    #[default]
    Create,
    /// Before the resource is destroyed.
    Destroy,
}

/// What a provisioner's failure means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerOnFailure {
    /// The resource is tainted and the apply fails.
    #[default]
    Fail,
    /// It is reported and ignored.
    Continue,
}
