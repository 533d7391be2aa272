//! What a walk has found so far: the values of variables, locals, outputs and resources, by module
//! instance, and how modules and resources expand.

use super::expansion::{Expansion, RepetitionData};
use crate::hashing::HashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use values::Value;
use values::address::{
    AbsoluteResource, InstanceKey, ModuleInstance, ModulePath, ResourceInstance,
};

/// Results of vertices, written once by each and read by those that depend on it.
#[derive(Default)]
pub(crate) struct Working {
    named: RwLock<HashMap<(ModuleInstance, Named), Value>>,
    modules: RwLock<HashMap<ModulePath, Arc<Vec<ModuleInstance>>>>,
    calls: RwLock<HashMap<ModuleInstance, CallExpansions>>,
    call_values: RwLock<HashMap<(ModuleInstance, Arc<str>), Value>>,
    expansions: RwLock<HashMap<AbsoluteResource, Arc<Expansion>>>,
    resources: RwLock<HashMap<AbsoluteResource, Value>>,
    instances: RwLock<HashMap<ResourceInstance, Value>>,
}

/// How the calls in one module instance expand, by their names.
type CallExpansions = HashMap<Arc<str>, Arc<Expansion>>;

/// A named value of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Named {
    Variable(Arc<str>),
    Local(Arc<str>),
    Output(Arc<str>),
}

// A poisoned lock means that another vertex panicked, which ends the walk anyway.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl Working {
    /// Nothing known but the root module.
    pub(crate) fn new() -> Working {
        let working = Working::default();
        write(&working.modules).insert(ModulePath::root(), Arc::new(vec![ModuleInstance::root()]));
        working
    }

    pub(crate) fn set_named(&self, module: &ModuleInstance, name: Named, value: Value) {
        write(&self.named).insert((module.clone(), name), value);
    }
    pub(crate) fn named(&self, module: &ModuleInstance, name: Named) -> Option<Value> {
        read(&self.named).get(&(module.clone(), name)).cloned()
    }

    /// Instances of a module; none before its call was expanded.
    pub(crate) fn module_instances(&self, path: &ModulePath) -> Arc<Vec<ModuleInstance>> {
        read(&self.modules).get(path).cloned().unwrap_or_default()
    }
    /// Whether it is known which instances a module has.
    pub(crate) fn has_expanded(&self, path: &ModulePath) -> bool {
        read(&self.modules).contains_key(path)
    }
    /// The expansion of a call in one instance of the calling module.
    pub(crate) fn set_call(&self, parent: &ModuleInstance, name: &Arc<str>, expansion: Expansion) {
        write(&self.calls)
            .entry(parent.clone())
            .or_default()
            .insert(name.clone(), Arc::new(expansion));
    }
    pub(crate) fn call(&self, parent: &ModuleInstance, name: &str) -> Option<Arc<Expansion>> {
        read(&self.calls).get(parent)?.get(name).cloned()
    }
    /// All instances of a module, once its call is expanded in every instance of its caller.
    pub(crate) fn set_module_instances(&self, path: ModulePath, instances: Vec<ModuleInstance>) {
        write(&self.modules).insert(path, Arc::new(instances));
    }
    /// Whether every call on the way to a module instance has the key that leads there.
    pub(crate) fn has_module(&self, module: &ModuleInstance) -> bool {
        let calls = read(&self.calls);
        let mut parent = ModuleInstance::root();
        for step in module.0.iter() {
            let expansion = calls.get(&parent).and_then(|names| names.get(&step.name));
            if !expansion.is_some_and(|expansion| expansion.contains(&step.key)) {
                return false;
            }
            parent = parent.child(step.name.clone(), step.key.clone());
        }
        true
    }
    /// What `count` and `each` are in the arguments of the call that made this instance.
    pub(crate) fn call_data(&self, module: &ModuleInstance) -> RepetitionData {
        let (Some(step), Some(parent)) = (module.0.last(), module.parent()) else {
            return RepetitionData::default();
        };
        match self.call(&parent, &step.name) {
            Some(expansion) => expansion.data(&step.key),
            None => RepetitionData::default(),
        }
    }

    /// The value of a module call, once computed whole.
    pub(crate) fn call_value(&self, parent: &ModuleInstance, name: &Arc<str>) -> Option<Value> {
        read(&self.call_values).get(&(parent.clone(), name.clone())).cloned()
    }
    pub(crate) fn set_call_value(&self, parent: &ModuleInstance, name: &Arc<str>, value: Value) {
        write(&self.call_values).insert((parent.clone(), name.clone()), value);
    }

    pub(crate) fn set_expansion(&self, resource: AbsoluteResource, expansion: Expansion) {
        write(&self.expansions).insert(resource, Arc::new(expansion));
    }
    pub(crate) fn expansion(&self, resource: &AbsoluteResource) -> Option<Arc<Expansion>> {
        read(&self.expansions).get(resource).cloned()
    }
    /// What expressions see of one instance.
    pub(crate) fn set_instance(&self, address: &ResourceInstance, value: Value) {
        write(&self.instances).insert(address.clone(), value);
    }
    pub(crate) fn instance(&self, address: &ResourceInstance) -> Option<Value> {
        read(&self.instances).get(address).cloned()
    }
    /// Puts the instances of a resource together, so that references cost nothing more.
    pub(crate) fn finish_resource(&self, resource: &AbsoluteResource) {
        let Some(expansion) = self.expansion(resource) else { return };
        let value = {
            let instances = read(&self.instances);
            expansion.collect(|key: &InstanceKey| {
                let address = resource.instance(key.clone());
                instances.get(&address).cloned().unwrap_or_else(Value::dynamic)
            })
        };
        self.set_resource(resource.clone(), value);
    }
    /// Puts together resources of which only the instances are known.
    pub(crate) fn finish_instances<'a>(
        &self,
        instances: impl IntoIterator<Item = &'a ResourceInstance>,
    ) {
        let mut keys = BTreeMap::<AbsoluteResource, Vec<InstanceKey>>::new();
        for address in instances {
            keys.entry(address.containing()).or_default().push(address.key.clone());
        }
        for (resource, keys) in keys {
            self.set_expansion(resource.clone(), Expansion::of_keys(keys));
            self.finish_resource(&resource);
        }
    }
    pub(crate) fn set_resource(&self, resource: AbsoluteResource, value: Value) {
        write(&self.resources).insert(resource, value);
    }
    /// The value of all instances of a resource.
    pub(crate) fn resource(&self, resource: &AbsoluteResource) -> Option<Value> {
        read(&self.resources).get(resource).cloned()
    }
}
