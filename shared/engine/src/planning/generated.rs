//! Configuration for imported objects that nothing declares, written from what their providers say of them.

use super::generated_text::resource_block;
use super::import::{self, target};
use super::resource::{Declared, blocking};
use super::{PlanOptions, PlanWalk, Rehearsed, walked};
use crate::evaluation::{EvalContext, RepetitionData};
use crate::object_codec::resource_schema;
use crate::state::State;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::{Configuration, Import, LocalProviderConfig};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{
    InstanceKey, ModuleInstance, ModulePath, ProviderConfigAddress, ResourceInstance,
};

/// Configuration that was written for an imported object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedResource {
    /// The instance that takes the object over.
    pub address: ResourceInstance,
    /// The identifier that its provider knows it by.
    pub id: Arc<str>,
    /// A `resource` block, without a newline at its end.
    pub text: String,
}

/// Import blocks of the root module for which configuration can be written: nothing declares their resource, and they
/// name one instance.
pub(super) fn without_resource(configuration: &Configuration) -> impl Iterator<Item = &Import> {
    let imports = configuration.root.module.imports.iter();
    imports.filter(|import| {
        let target = &import.target;
        let alone = target.module.is_root() && import.for_each.is_none();
        alone && configuration.resource(target).is_none()
    })
}

/// The provider configuration that imports an object that nothing declares.
pub(super) fn provider_of(
    configuration: &Configuration,
    import: &Import,
) -> Option<ProviderConfigAddress> {
    let local_name = import.target.resource.implied_provider().into();
    let config = LocalProviderConfig { local_name, alias: None };
    configuration.resolve_provider(&ModulePath::root(), &config)
}

/// Walks through the configuration as planning does, so that all that import blocks refer to has its value, and reads the
/// objects that they name. Without the resources of other import blocks, nothing else is planned that could be used.
pub(crate) async fn generate(
    context: EvalContext,
    options: PlanOptions,
    previous: Arc<State>,
) -> (Vec<GeneratedResource>, Diagnostics) {
    let walk = walked(context, options, previous, Rehearsed::default()).await.walk;
    let mut generated = BTreeMap::new();
    let imports: Vec<Import> = without_resource(&walk.context.configuration).cloned().collect();
    for import in imports {
        if let Some(resource) = read(&walk, import).await {
            generated.insert(resource.address.clone(), resource);
        }
    }
    let diagnostics = walk.context.take_diagnostics();
    (generated.into_values().collect(), diagnostics)
}

async fn read(walk: &Arc<PlanWalk>, import: Import) -> Option<GeneratedResource> {
    let (evaluating, import) = (walk.clone(), Arc::new(import));
    let block = import.clone();
    let evaluated = blocking(move || {
        let (root, data) = (ModuleInstance::root(), RepetitionData::default());
        evaluating.context.evaluate(&root, &data, None, |e| target(e, &block)).flatten()
    });
    let (address, id) = evaluated.await?;
    if walk.prior.instances.contains_key(&address) {
        return None;
    }
    if address.key != InstanceKey::None {
        walk.context.report([Diagnostic::error(
            "Configuration for import target does not exist",
            format!(
                "The configuration for the given import target {address} does not exist. Configuration can be generated for resources with one instance alone; write that of resources with \"count\" or \"for_each\"."
            ),
        )
        .at(import.to.span)]);
        return None;
    }
    let context = &walk.context;
    let provider_address = provider_of(&context.configuration, &import)?;
    let provider = context.pool.running(&provider_address)?;
    let schemas = context.pool.schema(&provider_address.provider)?;
    let resource = address.config();
    let Some(schema) = resource_schema(&schemas, resource.resource.mode, &resource.resource.ty)
    else {
        context.report([Diagnostic::error(
            "Invalid resource type",
            format!(
                "The provider {} does not support resource type {:?}.",
                provider_address.provider.for_display(),
                &*resource.resource.ty
            ),
        )
        .at(import.to.span)]);
        return None;
    };
    let declared = Declared {
        resource,
        node: context.configuration.root.clone(),
        provider_address,
        provider,
        schema: schema.clone(),
    };
    let found = import::read(walk, &declared, &address, &id).await?;
    let object = found.now?;
    let text = resource_block(&address.resource, &schema.block, &object.value);
    Some(GeneratedResource { address, id, text })
}
