//! A declared resource with its provider and schema: what all its instances have in common.

use crate::evaluation::{
    EvalContext, Expansion, Operation, Reader, RepetitionData, blocking,
    evaluate_expansion_in_parts,
};
use crate::object_codec::resource_schema;
use crate::provider_meta::running_for;
use language::diagnostics::Diagnostic;
use language::module::{Configuration, ModuleNode, ResourceBlock};
use language::source::Span;
use language::syntax::ast::Body;
use language::syntax::suggest;
use providers::{Provider, ProviderSchema, TypedSchema};
use std::sync::Arc;
use values::address::{
    ConfigResource, ModuleInstance, ProviderAddress, ProviderConfigAddress, Resource,
    ResourceInstance, ResourceMode,
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
        let block = context.node(&resource.module)?.module.resources.get(&resource.resource)?;
        let provider = context.configuration.provider_for(resource)?;
        Declared::with_provider(context, resource, provider, block.type_span)
    }

    /// The same for a resource that need not have a block; `named` is where its type is named.
    pub(crate) fn with_provider(
        context: &EvalContext,
        resource: &ConfigResource,
        provider_address: ProviderConfigAddress,
        named: Span,
    ) -> Option<Declared> {
        let node = context.node(&resource.module)?.clone();
        if !provider_is_configured(context, &provider_address, resource) {
            return None;
        }
        let provider = running_for(context, &provider_address, &resource.module)?;
        let schemas = context.pool.schema(&provider_address.provider)?;
        let Resource { mode, ty, .. } = &resource.resource;
        let Some(schema) = resource_schema(&schemas, *mode, ty).cloned() else {
            let error = unsupported(&resource.resource, &provider_address.provider, &schemas);
            context.report([error.at(named)]);
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

    /// Where what the provider says of it belongs.
    pub(crate) fn place(&self) -> (Option<&Body>, Option<Span>) {
        let block = self.block();
        (block.map(|block| &*block.config), block.map(|block| block.span))
    }

    /// The instances in one instance of the module; `None` after an error. While validating, their keys are not known.
    pub(crate) async fn expand(
        self: &Arc<Self>,
        context: &Arc<EvalContext>,
        module: &ModuleInstance,
    ) -> Option<Expansion> {
        let (declared, context, module) = (self.clone(), context.clone(), module.clone());
        blocking(move || {
            let block = declared.block()?;
            let data = RepetitionData::default();
            let validating = context.operation == Operation::Validate;
            let (expansion, reads) = context.evaluate(&module, &data, None, |e| {
                evaluate_expansion_in_parts(e, &block.repetition, validating)
            })?;
            let resource = declared.resource.resource.absolute(&module);
            context.keep_reads(Reader::Expansion(resource), reads);
            expansion.map(|expansion| if validating { expansion.forget_keys() } else { expansion })
        })
        .await
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
    let near = match resource.mode {
        ResourceMode::Managed => suggest(ty, schemas.resources.keys().map(|name| &**name)),
        ResourceMode::Data => suggest(ty, schemas.data_sources.keys().map(|name| &**name)),
        ResourceMode::Ephemeral => None,
    };
    if let (None, Some(near)) = (other, near) {
        detail.push_str(&format!(" Did you mean {near:?}?"));
    }
    if let Some((kind, right, wrong)) = other {
        detail.push_str(&format!("\n\nDid you intend to use the {kind} {:?}? If so, declare this using a {right:?} block instead of a {wrong:?} block.", &**ty));
    }
    Diagnostic::error(summary, detail)
}

/// Whether a provider configuration is there: the default one of the root module needs no block,
/// any other does.
pub(crate) fn is_there(configuration: &Configuration, address: &ProviderConfigAddress) -> bool {
    let implied = address.alias.is_none() && address.module.is_root();
    implied || configuration.provider_config(address).is_some()
}

/// Whether a provider configuration [is there](is_there); else it is reported.
pub(crate) fn provider_is_configured(
    context: &EvalContext,
    address: &ProviderConfigAddress,
    needed_by: &dyn std::fmt::Display,
) -> bool {
    if is_there(&context.configuration, address) {
        return true;
    }
    context.report([Diagnostic::error(
        "Provider configuration not present",
        format!("To work with {needed_by} its original provider configuration at {address} is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy {needed_by}, after which you can remove the provider configuration again."),
    )]);
    false
}
