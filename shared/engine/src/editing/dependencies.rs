//! Dependencies after a move: whatever referred to a resource refers to where it is now, so that a destruction that comes before
//! the next apply keeps its order.

use super::{Edit, Edits};
use crate::object::StoredObject;
use crate::state::{InstanceState, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ConfigResource, ResourceInstance};

/// What resources are called since their instances were moved.
pub(super) struct Renames(BTreeMap<ConfigResource, BTreeSet<ConfigResource>>);

impl Renames {
    pub(super) fn of(edits: &Edits, state: &State) -> Renames {
        let mut renames = BTreeMap::<ConfigResource, BTreeSet<ConfigResource>>::new();
        for (address, edit) in &edits.by_instance {
            if let Edit::Move(to) = edit {
                renames.entry(address.config()).or_default().insert(to.config());
            }
        }
        let stays = |address: &&ResourceInstance| !edits.by_instance.contains_key(*address);
        for address in state.instances.keys().filter(stays) {
            let resource = address.config();
            if let Some(names) = renames.get_mut(&resource) {
                // Some of its instances are where they were.
                names.insert(resource);
            }
        }
        Renames(renames)
    }

    /// The instance with its dependencies as they are called now; `None` where that is as they were.
    pub(super) fn apply(&self, instance: &InstanceState) -> Option<InstanceState> {
        if self.0.is_empty() {
            return None;
        }
        let mut renamed = instance.clone();
        let mut changed = false;
        for object in renamed.current.iter_mut().chain(renamed.deposed.values_mut()) {
            changed |= self.rename(object);
        }
        changed.then_some(renamed)
    }

    fn rename(&self, object: &mut StoredObject) -> bool {
        if !object.dependencies.iter().any(|dependency| self.0.contains_key(dependency)) {
            return false;
        }
        let mut names = BTreeSet::new();
        for dependency in object.dependencies.iter() {
            match self.0.get(dependency) {
                None => {
                    names.insert(dependency.clone());
                }
                Some(now) => names.extend(now.iter().cloned()),
            }
        }
        let names: Arc<[ConfigResource]> = names.into_iter().collect();
        let changed = names != object.dependencies;
        object.dependencies = names;
        changed
    }
}
