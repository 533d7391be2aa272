//! Carrying moves out on the addresses of what is recorded.

use super::endpoint::{Endpoint, selects_prefix};
use super::statement::Statement;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use values::address::{
    AbsoluteResource, ConfigResource, InstanceKey, ModuleInstance, ModulePath, Resource,
    ResourceInstance, ResourceMode,
};

/// Where the recorded instances are while moves are made.
pub(super) struct Addresses {
    /// By where an instance is now, where it was at the beginning.
    origins: BTreeMap<ResourceInstance, ResourceInstance>,
    by_resource: BTreeMap<ConfigResource, BTreeSet<ResourceInstance>>,
    /// What could not move, and where it should have gone.
    pub(super) blocked: BTreeSet<(Endpoint, Endpoint)>,
}

impl Addresses {
    /// Managed instances alone: what is recorded of data sources is read again wherever it is.
    pub(super) fn of(previous: &State) -> Addresses {
        let mut addresses = Addresses {
            origins: BTreeMap::new(),
            by_resource: BTreeMap::new(),
            blocked: BTreeSet::new(),
        };
        let managed = previous.instances.keys();
        for address in managed.filter(|a| a.resource.mode == ResourceMode::Managed) {
            addresses.put(address.clone(), address.clone());
        }
        addresses
    }

    /// Instances that are not where they were, with where they were.
    pub(super) fn moved(self) -> BTreeMap<ResourceInstance, ResourceInstance> {
        self.origins.into_iter().filter(|(now, origin)| now != origin).collect()
    }

    fn put(&mut self, now: ResourceInstance, origin: ResourceInstance) {
        self.by_resource.entry(now.config()).or_default().insert(now.clone());
        self.origins.insert(now, origin);
    }

    /// Moves one instance, unless something is there.
    pub(super) fn move_instance(&mut self, from: &ResourceInstance, to: ResourceInstance) {
        if self.origins.contains_key(&to) {
            self.blocked.insert((Endpoint::Instance(from.clone()), Endpoint::Instance(to)));
            return;
        }
        self.relocate(from, to);
    }

    fn relocate(&mut self, from: &ResourceInstance, to: ResourceInstance) {
        let Some(origin) = self.origins.remove(from) else { return };
        let resource = from.config();
        if let Some(instances) = self.by_resource.get_mut(&resource) {
            instances.remove(from);
            if instances.is_empty() {
                self.by_resource.remove(&resource);
            }
        }
        self.put(to, origin);
    }

    fn has_module(&self, module: &ModuleInstance) -> bool {
        let next = self.origins.range(least(module.clone())..).next();
        next.is_some_and(|(address, _)| address.module == *module)
    }

    fn has_resource(&self, resource: &AbsoluteResource) -> bool {
        let next = self.origins.range(resource.instance(InstanceKey::None)..).next();
        next.is_some_and(|(address, _)| address.containing() == *resource)
    }

    /// Carries out one statement wherever it applies.
    pub(super) fn carry_out(&mut self, statement: &Statement) {
        match (&statement.from, &statement.to) {
            (from, to) if from.is_module() => self.move_modules(statement, from, to),
            (Endpoint::Resource(from), Endpoint::Resource(to)) => {
                for resource in self.selected(statement, &statement.from, &from.resource) {
                    let depth = statement.module.0.len();
                    let declaring = ModuleInstance(resource.module.0[..depth].into());
                    let Endpoint::Resource(target) =
                        Endpoint::Resource(to.clone()).within(&declaring)
                    else {
                        continue;
                    };
                    if self.has_resource(&target) {
                        let ends = (Endpoint::Resource(resource), Endpoint::Resource(target));
                        self.blocked.insert(ends);
                        continue;
                    }
                    for instance in self.instances_of(&resource) {
                        let key = instance.key.clone();
                        self.relocate(&instance, target.instance(key));
                    }
                }
            }
            (Endpoint::Instance(from), Endpoint::Instance(_)) => {
                for resource in self.selected(statement, &statement.from, &from.resource) {
                    let depth = statement.module.0.len();
                    let declaring = ModuleInstance(resource.module.0[..depth].into());
                    let source = resource.instance(from.key.clone());
                    if let Endpoint::Instance(target) = statement.to.within(&declaring)
                        && self.origins.contains_key(&source)
                    {
                        self.move_instance(&source, target);
                    }
                }
            }
            _ => {}
        }
    }

    /// The recorded resources that an end selects.
    fn selected(
        &self,
        statement: &Statement,
        end: &Endpoint,
        resource: &Resource,
    ) -> BTreeSet<AbsoluteResource> {
        let steps = end.steps(&statement.module);
        let path = ModulePath(steps.iter().map(|(name, _)| name.clone()).collect());
        let instances = self.by_resource.get(&resource.in_module(&path)).into_iter().flatten();
        instances
            .filter(|instance| selects_prefix(&steps, &instance.module.0))
            .map(ResourceInstance::containing)
            .collect()
    }

    fn instances_of(&self, resource: &AbsoluteResource) -> Vec<ResourceInstance> {
        let from = self.origins.range(resource.instance(InstanceKey::None)..);
        from.map(|(address, _)| address)
            .take_while(|address| address.containing() == *resource)
            .cloned()
            .collect()
    }

    fn move_modules(&mut self, statement: &Statement, from: &Endpoint, to: &Endpoint) {
        let steps = from.steps(&statement.module);
        let path = ModulePath(steps.iter().map(|(name, _)| name.clone()).collect());
        let first = ConfigResource { module: path.clone(), resource: least_resource() };
        let mut by_module = BTreeMap::<ModuleInstance, Vec<ResourceInstance>>::new();
        let inside = self.by_resource.range(first..);
        for (_, instances) in inside.take_while(|(r, _)| r.module.0.starts_with(&path.0)) {
            for instance in instances.iter().filter(|i| selects_prefix(&steps, &i.module.0)) {
                by_module.entry(instance.module.clone()).or_default().push(instance.clone());
            }
        }
        for (module, instances) in by_module {
            let depth = statement.module.0.len();
            let declaring = ModuleInstance(module.0[..depth].into());
            let target = match to.within(&declaring) {
                Endpoint::Call(caller, name) => {
                    caller.child(name, module.0[steps.len() - 1].key.clone())
                }
                Endpoint::Module(target) => target,
                Endpoint::Resource(_) | Endpoint::Instance(_) => continue,
            };
            let rest = &module.0[steps.len()..];
            let target = ModuleInstance(target.0.iter().chain(rest).cloned().collect());
            if self.has_module(&target) {
                self.blocked.insert((Endpoint::Module(module), Endpoint::Module(target)));
                continue;
            }
            for instance in instances {
                let resource = instance.resource.absolute(&target);
                self.relocate(&instance, resource.instance(instance.key.clone()));
            }
        }
    }
}

/// What comes before every resource of a module.
fn least_resource() -> Resource {
    Resource { mode: ResourceMode::Managed, ty: "".into(), name: "".into() }
}

fn least(module: ModuleInstance) -> ResourceInstance {
    ResourceInstance { module, resource: least_resource(), key: InstanceKey::None }
}
