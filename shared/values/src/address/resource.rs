use super::{InstanceKey, ModuleInstance, ModulePath};
use std::fmt;
use std::sync::Arc;

/// What kind of block declares a resource.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ResourceMode {
    /// `resource`
    Managed,
    /// `data`
    Data,
    /// `ephemeral`
    Ephemeral,
}

/// A resource within its module: `aws_instance.web`, `data.aws_ami.ubuntu`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// Kind of block.
    pub mode: ResourceMode,
    /// Resource type, e.g. `aws_instance`.
    pub ty: Arc<str>,
    /// Name of the block.
    pub name: Arc<str>,
}

/// A resource as the configuration declares it: module path without keys, and resource.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigResource {
    /// The module that declares it.
    pub module: ModulePath,
    /// The resource there.
    pub resource: Resource,
}

/// A resource in one instance of its module (Terraform's "absolute resource"); expands to
/// instances.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsoluteResource {
    /// The module instance.
    pub module: ModuleInstance,
    /// The resource there.
    pub resource: Resource,
}

/// One resource instance: what a record belongs to.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceInstance {
    /// The module instance.
    pub module: ModuleInstance,
    /// The resource there.
    pub resource: Resource,
    /// Which instance of it.
    pub key: InstanceKey,
}

impl Resource {
    /// A managed resource.
    pub fn managed(ty: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Resource {
        Resource { mode: ResourceMode::Managed, ty: ty.into(), name: name.into() }
    }
    /// A data source.
    pub fn data(ty: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Resource {
        Resource { mode: ResourceMode::Data, ty: ty.into(), name: name.into() }
    }
    /// The local name of the provider that the type implies: what stands before the first `_`.
    pub fn implied_provider(&self) -> &str {
        self.ty.split('_').next().unwrap_or(&self.ty)
    }
    /// This resource in a module instance.
    pub fn absolute(&self, module: &ModuleInstance) -> AbsoluteResource {
        AbsoluteResource { module: module.clone(), resource: self.clone() }
    }
    /// This resource in a module.
    pub fn in_module(&self, module: &ModulePath) -> ConfigResource {
        ConfigResource { module: module.clone(), resource: self.clone() }
    }
}

impl AbsoluteResource {
    /// One instance.
    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance { module: self.module.clone(), resource: self.resource.clone(), key }
    }
    /// The same without module instance keys.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }
}

impl ResourceInstance {
    /// The resource that this is an instance of.
    pub fn containing(&self) -> AbsoluteResource {
        AbsoluteResource { module: self.module.clone(), resource: self.resource.clone() }
    }
    /// The same without any instance key.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }
}

impl ResourceMode {
    /// `managed`, `data` or `ephemeral`, as Terraform's JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            ResourceMode::Managed => "managed",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => "ephemeral",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            ResourceMode::Managed => write!(f, "{}.{}", self.ty, self.name),
            ResourceMode::Data => write!(f, "data.{}.{}", self.ty, self.name),
            ResourceMode::Ephemeral => write!(f, "ephemeral.{}.{}", self.ty, self.name),
        }
    }
}
impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module.is_root() {
            true => write!(f, "{}", self.resource),
            false => write!(f, "{}.{}", self.module, self.resource),
        }
    }
}
impl fmt::Display for AbsoluteResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module.is_root() {
            true => write!(f, "{}", self.resource),
            false => write!(f, "{}.{}", self.module, self.resource),
        }
    }
}
impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module.is_root() {
            true => write!(f, "{}{}", self.resource, self.key),
            false => write!(f, "{}.{}{}", self.module, self.resource, self.key),
        }
    }
}

macro_rules! debug_as_display {
    ($($t:ty),*) => {$(
        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
debug_as_display!(Resource, ConfigResource, AbsoluteResource, ResourceInstance);
