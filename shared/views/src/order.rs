//! The order in which Terraform lists resource instances.

use std::cmp::Ordering;
use values::address::{ModuleInstance, Resource, ResourceInstance, ResourceMode};

/// Shallow modules first; data sources before managed resources; then by type, name and key.
pub(crate) fn by_address(a: &ResourceInstance, b: &ResourceInstance) -> Ordering {
    by_module(&a.module, &b.module)
        .then_with(|| by_resource(&a.resource, &b.resource))
        .then_with(|| a.key.cmp(&b.key))
}

fn by_module(a: &ModuleInstance, b: &ModuleInstance) -> Ordering {
    a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(&b.0))
}

fn by_resource(a: &Resource, b: &Resource) -> Ordering {
    let managed = |r: &Resource| r.mode != ResourceMode::Data;
    managed(a).cmp(&managed(b)).then_with(|| a.ty.cmp(&b.ty)).then_with(|| a.name.cmp(&b.name))
}
