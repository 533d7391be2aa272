//! The expansion of a resource, and its value once all its instances are there.

use super::ApplyWalk;
use super::check_results::check_unchanged;
use super::commit::schema;
use crate::evaluation::{Expansion, RepetitionData, blocking, evaluate_expansion};
use crate::graph::Walked;
use language::module::Repetition;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{
    AbsoluteResource, ConfigResource, InstanceKey, ModuleInstance, ResourceInstance, ResourceMode,
};

/// Evaluates the expansion where instances change, and takes it from the plan where none does.
pub(crate) async fn expand(walk: Arc<ApplyWalk>, resource: ConfigResource) -> Walked {
    let modules = walk.context.working.module_instances(&resource.module);
    let mut ok = true;
    for module in modules.iter() {
        let expansion = match walk.is_changed(&resource) {
            false => Some(planned_expansion(&walk, &resource, module)),
            true => {
                let (walk, resource, module) = (walk.clone(), resource.clone(), module.clone());
                blocking(move || {
                    let block = walk.context.configuration.resource(&resource)?;
                    let data = RepetitionData::default();
                    walk.context
                        .evaluate(&module, &data, None, |e| {
                            evaluate_expansion(e, &block.repetition, false)
                        })
                        .flatten()
                })
                .await
            }
        };
        match expansion {
            Some(expansion) => {
                let absolute = resource.resource.absolute(module);
                walk.context.working.set_expansion(absolute, expansion);
            }
            None => ok = false,
        }
    }
    if ok { Walked::Done } else { Walked::Failed }
}

/// The keys of the planned instances in one module instance.
pub(super) fn planned_expansion(
    walk: &ApplyWalk,
    resource: &ConfigResource,
    module: &ModuleInstance,
) -> Expansion {
    let block = walk.context.configuration.resource(resource);
    let keys = walk
        .instances(resource)
        .iter()
        .filter(|address| address.module == *module && value_of(walk, address).is_some())
        .map(|address| &address.key);
    match block.map(|b| &b.repetition) {
        Some(Repetition::Count(_)) => Expansion::Count(
            keys.filter_map(|key| match key {
                InstanceKey::Int(i) => Some(i + 1),
                _ => None,
            })
            .max()
            .unwrap_or(0),
        ),
        Some(Repetition::ForEach(_)) => Expansion::ForEach(
            keys.filter_map(|key| match key {
                InstanceKey::String(k) => Some((k.clone(), Value::dynamic())),
                _ => None,
            })
            .collect::<BTreeMap<_, _>>(),
        ),
        _ => Expansion::Single,
    }
}

/// The plan's value of an instance that does not change. One that is deleted is still there for
/// whoever needs it before that (a provider's configuration), unless others of its resource stay.
pub(super) fn value_of(walk: &ApplyWalk, address: &ResourceInstance) -> Option<Value> {
    if let Some(change) = walk.change(address) {
        if !change.after.is_null() {
            return Some(change.after.clone());
        }
        let destroying = walk.plan.mode == crate::plan::PlanMode::Destroy;
        return destroying.then(|| change.before.clone());
    }
    Some(walk.plan.refreshed.get(address)?.current.as_ref()?.value.clone())
}

/// Puts the values of all instances together, and checks those of which only now is known whether they are as they
/// should be.
pub(crate) async fn finish(walk: Arc<ApplyWalk>, resource: ConfigResource) -> Walked {
    put_together(&walk, &resource);
    match walk.unchecked(&resource).is_empty() {
        true => Walked::Done,
        false => blocking(move || check_unchanged(&walk, &resource)).await,
    }
}

fn put_together(walk: &ApplyWalk, resource: &ConfigResource) {
    let working = &walk.context.working;
    for address in walk.instances(resource) {
        if working.instance(address).is_none()
            && let Some(value) = value_of(walk, address)
        {
            working.set_instance(address, value);
        }
    }
    for module in working.module_instances(&resource.module).iter() {
        let absolute = resource.resource.absolute(module);
        stand_in(walk, resource, &absolute);
        working.finish_resource(&absolute);
    }
}

/// Of what is not there, only the type is known.
fn stand_in(walk: &ApplyWalk, resource: &ConfigResource, absolute: &AbsoluteResource) {
    let working = &walk.context.working;
    let Some(expansion) = working.expansion(absolute) else { return };
    if resource.resource.mode == ResourceMode::Ephemeral {
        return;
    }
    let Some(provider) = walk.context.configuration.provider_for(resource) else { return };
    for key in expansion.keys() {
        let address = absolute.instance(key);
        if working.instance(&address).is_none()
            && let Some(schema) = schema(walk, &address, &provider.provider)
        {
            working.set_instance(&address, Value::unknown(schema.ty().clone()));
        }
    }
}
