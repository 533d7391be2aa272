//! The end of an apply: outputs, and what was learned about instances that nothing changed.

use super::instance_records::stored;
use super::{ApplyWalk, Ending, outputs};
use crate::object_codec::resource_schema;
use crate::state::InstanceState;
use language::diagnostics::Diagnostic;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{ResourceInstance, ResourceMode};

/// Writes refreshed values and outputs; the outputs, where they could be evaluated.
pub(crate) async fn commit(
    walk: &Arc<ApplyWalk>,
    ending: Ending,
) -> Option<BTreeMap<Arc<str>, Value>> {
    write_refreshed(walk).await;
    outputs::write(walk, ending).await
}

async fn write_refreshed(walk: &ApplyWalk) {
    let recorded_data = walk.plan.prior.instances.keys().filter(|a| {
        let read = walk.plan.targeted || walk.plan.refreshed.contains_key(a);
        a.resource.mode == ResourceMode::Data && !read
    });
    // A data source that nothing reads any more leaves nothing behind in the world.
    for address in recorded_data {
        if !walk.records.is_touched(address) {
            refresh(walk, address, InstanceState::default()).await;
        }
    }
    for (address, refreshed) in &walk.plan.refreshed {
        if walk.records.is_touched(address) || walk.is_unmoved(address) {
            continue;
        }
        let recorded = walk.plan.recorded(address);
        let Some(schema) = schema(walk, address, &refreshed.provider.provider) else { continue };
        let change = walk.change(address);
        let mut state = InstanceState::default();
        let mut encoded = true;
        if let Some(object) = &refreshed.current {
            let mut object = object.clone();
            if let Some(change) = change.filter(|c| !c.after.is_null()) {
                object.dependencies = change.dependencies.clone();
                object.create_before_destroy = change.create_before_destroy;
            }
            if let Some(block) = walk.context.configuration.resource(&address.config()) {
                object.prevent_destroy = block.lifecycle.prevent_destroy == Some(true);
            }
            match stored(&refreshed.provider, &schema, &object) {
                Ok(object) => state.current = Some(object),
                Err(_) => encoded = false,
            }
        }
        for (key, object) in &refreshed.deposed {
            match stored(&refreshed.provider, &schema, object) {
                Ok(object) => {
                    state.deposed.insert(key.clone(), object);
                }
                Err(_) => encoded = false,
            }
        }
        let same =
            recorded.is_some_and(|r| r.current == state.current && r.deposed == state.deposed);
        if encoded && !same {
            refresh(walk, address, state).await;
        }
    }
}

async fn refresh(walk: &ApplyWalk, address: &ResourceInstance, mut state: InstanceState) {
    // A record that moved here has a version that the plan could not know.
    if !walk.plan.moves.contains_key(address) {
        let recorded = walk.plan.previous.instances.get(address);
        let version = recorded.and_then(|recorded| recorded.version.clone());
        state.version = Some(version.unwrap_or_default());
    }
    if let Err(e) = walk.recorder.refresh(address, &state).await {
        walk.context.report([Diagnostic::error(e.summary, e.detail)]);
    }
}

/// The schema of an instance's resource, as its provider has it or the plan kept it.
pub(super) fn schema(
    walk: &ApplyWalk,
    address: &ResourceInstance,
    provider: &values::address::ProviderAddress,
) -> Option<providers::TypedSchema> {
    if let Some(schemas) = walk.context.pool.schema(provider) {
        let ty = &address.resource.ty;
        return resource_schema(&schemas, address.resource.mode, ty).cloned();
    }
    // A provider that this apply did not need: the plan carries the schema.
    let schema = walk.plan.schemas.get(provider, address.resource.mode, &address.resource.ty)?;
    Some(providers::TypedSchema::from((**schema).clone()))
}
