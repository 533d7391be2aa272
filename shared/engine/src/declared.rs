//! A declared resource with its provider and schema: what all its instances have in common.

use crate::evaluation::EvalContext;
use crate::object_codec::resource_schema;
use crate::provider_meta::running_for;
use language::diagnostics::Diagnostic;
use language::module::{ModuleNode, ResourceBlock};
use providers::{Provider, ProviderSchema, TypedSchema};
use std::sync::Arc;
use values::address::{
    ConfigResource, ProviderAddress, ProviderConfigAddress, Resource, ResourceInstance,
    ResourceMode,
};

/// What all instances of a declared resource have in common.
pub(crate) struct Declared {
    pub(crate) resource: ConfigResource,
    pub(crate) node: Arc<ModuleNode>,
    pub(crate) provider_address: ProviderConfigAddress,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) schema: TypedSchema,
}

impl Declared {
    /// A resource of the configuration whose provider runs; else what is wrong with it is reported.
    pub(crate) fn of(context: &EvalContext, resource: &ConfigResource) -> Option<Declared> {
        let node = context.node(&resource.module)?.clone();
        let block = node.module.resources.get(&resource.resource)?;
        let provider_address = context.configuration.provider_for(resource)?;
        if !provider_is_configured(context, &provider_address, resource) {
            return None;
        }
        let provider = running_for(context, &provider_address, &resource.module)?;
        let schemas = context.pool.schema(&provider_address.provider)?;
        let Resource { mode, ty, .. } = &resource.resource;
        let Some(schema) = resource_schema(&schemas, *mode, ty).cloned() else {
            let error = unsupported(&resource.resource, &provider_address.provider, &schemas);
            context.report([error.at(block.type_span)]);
            return None;
        };
        Some(Declared { resource: resource.clone(), node, provider_address, provider, schema })
    }

    /// The provider as one instance meets it.
    pub(crate) fn provider_of(
        &self,
        context: &EvalContext,
        instance: &ResourceInstance,
    ) -> Arc<dyn Provider> {
        context.pool.doubled(&self.provider_address, &self.provider, instance)
    }

    pub(crate) fn block(&self) -> Option<&ResourceBlock> {
        self.node.module.resources.get(&self.resource.resource)
    }
}

/// That a provider has no such type.
fn unsupported(
    resource: &Resource,
    provider: &ProviderAddress,
    schemas: &ProviderSchema,
) -> Diagnostic {
    let ty = &resource.ty;
    let (summary, what, other) = match resource.mode {
        ResourceMode::Managed => (
            "Invalid resource type",
            "resource type",
            schemas.data_sources.contains_key(ty).then_some(("data source", "data", "resource")),
        ),
        ResourceMode::Data => (
            "Invalid data source",
            "data source",
            schemas.resources.contains_key(ty).then_some((
                "managed resource type",
                "resource",
                "data",
            )),
        ),
        ResourceMode::Ephemeral => ("Invalid ephemeral resource", "ephemeral resource", None),
    };
    let name = provider.for_display();
    let mut detail = format!("The provider {name} does not support {what} {:?}.", &**ty);
    if let Some((kind, right, wrong)) = other {
        detail.push_str(&format!("\n\nDid you intend to use the {kind} {:?}? If so, declare this using a {right:?} block instead of a {wrong:?} block.", &**ty));
    }
    Diagnostic::error(summary, detail)
}

/// Whether a provider configuration is there: the default one of the root module needs no block,
/// any other does.
pub(crate) fn provider_is_configured(
    context: &EvalContext,
    address: &ProviderConfigAddress,
    needed_by: &dyn std::fmt::Display,
) -> bool {
    let implied = address.alias.is_none() && address.module.is_root();
    if implied || context.configuration.provider_config(address).is_some() {
        return true;
    }
    context.report([Diagnostic::error(
        "Provider configuration not present",
        format!("To work with {needed_by} its original provider configuration at {address} is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy {needed_by}, after which you can remove the provider configuration again."),
    )]);
    false
}
