//! Configuration for imported objects that nothing declares, written from what their providers say of them.

use super::generated_text::resource_block;
use super::import::{self, target};
use super::{PlanOptions, PlanWalk, Rehearsed, walked};
use crate::declared::Declared;
use crate::ephemeral;
use crate::evaluation::{EvalContext, RepetitionData, blocking};
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
    let given = import.provider.as_ref().map(|given| given.config.clone());
    let config = given.unwrap_or_else(|| implied_provider(import));
    configuration.resolve_provider(&ModulePath::root(), &config)
}

fn implied_provider(import: &Import) -> LocalProviderConfig {
    LocalProviderConfig::default_of(import.target.resource.implied_provider())
}

/// Walks through the configuration as planning does, so that all that import blocks refer to has its value, and reads the
/// objects that they name. Without the resources of other import blocks, nothing else is planned that could be used. What
/// is opened is closed at the end, since providers may be configured with it.
pub(crate) async fn generate(
    context: EvalContext,
    options: PlanOptions,
    previous: Arc<State>,
) -> (Vec<GeneratedResource>, Diagnostics) {
    let walk = walked(context, options, previous, Rehearsed::default(), |_| {}).await.walk;
    let mut generated = BTreeMap::new();
    let imports: Vec<Import> = without_resource(&walk.context.configuration).cloned().collect();
    for import in imports {
        if let Some(resource) = read(&walk, import).await {
            generated.insert(resource.address.clone(), resource);
        }
    }
    ephemeral::close_all(&walk.context).await;
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
    let provider = provider_of(&walk.context.configuration, &import)?;
    let resource = address.config();
    let declared = Declared::with_provider(&walk.context, &resource, provider, import.to.span)?;
    let found = import::read(walk, &declared, &address, &id).await?;
    let object = found.now?;
    let provider = import.provider.as_ref().map(|given| &given.config);
    let provider = provider.filter(|config| **config != implied_provider(&import));
    let schema = &declared.schema.block;
    let text = resource_block(&address.resource, provider, schema, &object.value);
    Some(GeneratedResource { address, id, text })
}
