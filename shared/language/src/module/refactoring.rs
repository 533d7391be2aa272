//! `moved`, `removed`, `import` and `check` blocks.

use std::sync::Arc;

use values::address::{AbsoluteResource, Resource};
use values::address::{ConfigResource, ModuleInstance, ModulePath, ResourceInstance};

use super::provider::ProviderReference;
use super::{CheckRule, Provisioner};
use crate::source::Span;
use crate::syntax::ast::Expression;

/// A `moved` block.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The old address, relative to the module of the block.
    pub from: MoveEndpoint,
    /// The new address, relative to the module of the block.
    pub to: MoveEndpoint,
    /// The block's header.
    pub span: Span,
}

/// One end of a move. Without keys it means all instances or the one without key, which only the
/// records tell apart.
#[derive(Clone, Debug)]
pub struct MoveEndpoint {
    /// What is moved.
    pub subject: MoveSubject,
    /// Where the address stands.
    pub span: Span,
}

/// What is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveSubject {
    /// A module call with or without key: the last step says which.
    Module(ModuleInstance),
    /// A resource.
    Resource(AbsoluteResource),
    /// One instance of a resource.
    Instance(ResourceInstance),
}

/// A `removed` block.
#[derive(Clone, Debug)]
pub struct Removed {
    /// What is no longer declared, relative to the module of the block.
    pub from: RemovedSubject,
    /// Where the address stands.
    pub from_span: Span,
    /// Whether it is destroyed; if not, it is only forgotten.
    pub destroy: bool,
    /// Provisioners that run when it is destroyed.
    pub provisioners: Vec<Provisioner>,
    /// The block's header.
    pub span: Span,
}

/// What is no longer declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovedSubject {
    /// A module with all that it holds.
    Module(ModulePath),
    /// A resource.
    Resource(ConfigResource),
}

/// An `import` block.
#[derive(Clone, Debug)]
pub struct Import {
    /// The address that the object gets; may have computed keys.
    pub to: Expression,
    /// The resource that the address belongs to.
    pub target: ConfigResource,
    /// How the provider calls the object.
    pub id: Expression,
    /// Imports one object for each element.
    pub for_each: Option<Expression>,
    /// `provider`, for objects whose configuration is still to be generated.
    pub provider: Option<ProviderReference>,
    /// The block's header.
    pub span: Span,
}

/// A `check` block.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: Arc<str>,
    /// The data source inside; it is among the module's resources too.
    pub data: Option<Resource>,
    /// Its conditions.
    pub asserts: Vec<CheckRule>,
    /// The block's header.
    pub span: Span,
}
