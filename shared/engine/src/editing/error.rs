use crate::object::DeposedKey;
use crate::planning::Target;
use values::address::{AbsoluteResource, ModuleInstance, ResourceInstance};

/// What was asked for cannot be done to the records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Nothing is recorded at what is to be moved.
    #[error("cannot move {0}: does not match anything in the current state")]
    NothingToMove(Box<Target>),
    /// A module can become a module only.
    #[error("cannot move {0} to {1}: the target must also be a module")]
    NotAModule(ModuleInstance, Box<Target>),
    /// A resource with several instances can become such a resource only.
    #[error(
        "cannot move {0} to {1}: the source is a whole resource (not a resource instance) so the target must also be a whole resource"
    )]
    NotAWholeResource(Box<AbsoluteResource>, Box<Target>),
    /// An instance can become an instance only.
    #[error("cannot move {0} to {1}: the target must also be a resource instance")]
    NotAnInstance(Box<ResourceInstance>, Box<Target>),
    /// A data source cannot become a managed resource, or the other way round.
    #[error(
        "cannot move {0} to {1}: a {2} resource can be moved only to another {2} resource address"
    )]
    OtherMode(Box<AbsoluteResource>, Box<AbsoluteResource>, &'static str),
    /// Objects keep their type.
    #[error("cannot move {0} to {1}: resource types don't match")]
    OtherType(Box<AbsoluteResource>, Box<AbsoluteResource>),
    /// The target module is recorded already.
    #[error(
        "there are records of {0} already, and an object that is moved onto another would leave that one to itself. Nothing was changed"
    )]
    ModuleExists(ModuleInstance),
    /// The target resource is recorded already.
    #[error("cannot move to {0}: there is already a resource at that address in the current state")]
    ResourceExists(Box<AbsoluteResource>),
    /// The target instance is recorded already.
    #[error(
        "cannot move to {0}: there is already a resource instance at that address in the current state"
    )]
    InstanceExists(Box<ResourceInstance>),
    /// The instance to be moved is not recorded.
    #[error("the current state does not contain {0}")]
    NotRecorded(Box<ResourceInstance>),
    /// Nothing is recorded at what is to be forgotten.
    #[error(
        "no matching objects found. To view the available instances, use \"plumb state list\". Please modify the address to reference a specific instance"
    )]
    NothingToForget,
    /// The estate has no instances at all.
    #[error(
        "the state currently contains no resource instances whatsoever. This may occur if the configuration has never been applied or if it has recently been destroyed"
    )]
    NoInstances,
    /// There is no such instance to be marked.
    #[error(
        "there is no resource instance in the state with the address {0}. If the resource configuration has just been added, you must run \"plumb apply\" once to create the corresponding instance(s) before they can be tainted"
    )]
    NoInstance(Box<ResourceInstance>),
    /// Only what is replaced is left of it.
    #[error(
        "resource instance {0} is currently part-way through a create_before_destroy replacement action: only its deposed object {1} is recorded. Run \"plumb apply\" to complete its replacement before tainting it"
    )]
    OnlyDeposed(Box<ResourceInstance>, DeposedKey),
    /// It is no more than a mark that could be taken away.
    #[error("resource instance {0} is not currently tainted, and so it cannot be untainted")]
    NotTainted(Box<ResourceInstance>),
    /// Its attributes are lost.
    #[error(
        "of {0} only the identity could be recorded, and not its attributes: it has to be replaced, and cannot be untainted"
    )]
    Incomplete(Box<ResourceInstance>),
    /// An object is recorded where another is to be imported.
    #[error(
        "plumb is already managing a remote object for {0}. To import to this address you must first remove the existing object from the state"
    )]
    AlreadyManaged(Box<ResourceInstance>),
    /// A module that is named has no records.
    #[error(
        "the current state contains no module at {0}. If you've just added this module to the configuration, you must run \"plumb apply\" first to create the module's entry in the state"
    )]
    UnknownModule(ModuleInstance),
    /// A resource that is named has no records.
    #[error(
        "the current state contains no resource {0}. If you've just added this resource to the configuration, you must run \"plumb apply\" first to create the resource's entry in the state"
    )]
    UnknownResource(Box<AbsoluteResource>),
    /// An instance that is named has no record.
    #[error(
        "the current state contains no resource instance {0}. If you've just added its resource to the configuration or have changed the count or for_each arguments, you must run \"plumb apply\" first to update the resource's entry in the state"
    )]
    UnknownInstance(Box<ResourceInstance>),
}

impl EditError {
    /// One line.
    pub fn summary(&self) -> &'static str {
        match self {
            EditError::NothingToMove(_) | EditError::NotRecorded(_) => "Invalid source address",
            EditError::NotAModule(..)
            | EditError::NotAWholeResource(..)
            | EditError::NotAnInstance(..)
            | EditError::ResourceExists(_)
            | EditError::InstanceExists(_)
            | EditError::NothingToForget => "Invalid target address",
            EditError::OtherMode(..) | EditError::OtherType(..) => "Invalid state move request",
            EditError::ModuleExists(_) => "Error moving state: destination module already exists",
            EditError::NoInstances | EditError::NoInstance(_) | EditError::OnlyDeposed(..) => {
                "No such resource instance"
            }
            EditError::NotTainted(_) | EditError::Incomplete(_) => {
                "Resource instance is not tainted"
            }
            EditError::AlreadyManaged(_) => "Resource already managed by plumb",
            EditError::UnknownModule(_) => "Unknown module",
            EditError::UnknownResource(_) => "Unknown resource",
            EditError::UnknownInstance(_) => "Unknown resource instance",
        }
    }
}
