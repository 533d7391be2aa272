//! Addresses of modules, resources, providers: parsed from and printed in Terraform's syntax.

mod module;
mod parse;
mod provider;
mod resource;
mod source;

pub use module::{InstanceKey, ModuleInstance, ModulePath, ModuleStep};
pub use parse::AddressError;
pub use provider::{ProviderAddress, ProviderConfigAddress};
pub use resource::{AbsoluteResource, ConfigResource, Resource, ResourceInstance, ResourceMode};
pub use source::ProviderSourceError;
