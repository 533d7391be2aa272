//! Which recorded instances an address means.

use super::EditError;
use crate::object::StoredObject;
use crate::planning::Target;
use crate::state::State;
use values::address::{InstanceKey, ModuleInstance, ResourceInstance};

/// The recorded instances that an address means: all of a module with what is in it, all of a resource, or one. In order.
///
/// # Errors
/// Where nothing is recorded there.
pub fn select(state: &State, target: &Target) -> Result<Vec<ResourceInstance>, EditError> {
    let found = matching(state, target);
    match found.is_empty() {
        false => Ok(found),
        true => Err(match target.clone() {
            Target::Module(module) => EditError::UnknownModule(module),
            Target::Resource(resource) => EditError::UnknownResource(Box::new(resource)),
            Target::Instance(instance) => EditError::UnknownInstance(Box::new(instance)),
        }),
    }
}

/// The same, where nothing at all may be recorded.
pub(super) fn matching(state: &State, target: &Target) -> Vec<ResourceInstance> {
    let addresses = state.instances.keys();
    match target {
        Target::Module(module) => {
            addresses.filter(|address| is_within(&address.module, module)).cloned().collect()
        }
        Target::Resource(resource) => {
            addresses.filter(|address| address.containing() == *resource).cloned().collect()
        }
        Target::Instance(instance) => addresses.filter(|a| *a == instance).cloned().collect(),
    }
}

/// Whether a module is the one that is named, or below it. Without a key, the last step names all instances.
fn is_within(module: &ModuleInstance, named: &ModuleInstance) -> bool {
    let Some((last, before)) = named.0.split_last() else { return true };
    let Some(step) = module.0.get(before.len()) else { return false };
    let is_last = last.name == step.name && (last.key == InstanceKey::None || last.key == step.key);
    is_last && module.0.starts_with(before)
}

/// What an object's provider calls it, where it has an attribute `id`.
pub fn identifier(object: &StoredObject) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: Option<String>,
    }
    serde_json::from_str::<Named>(&object.attributes).ok()?.id
}
