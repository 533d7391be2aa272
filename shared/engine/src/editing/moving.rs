//! Moving records to other addresses: one instance, a resource with all its instances, or a module with all that is in it.

use super::{Edit, EditError, Edits};
use crate::estate::EstateReading;
use crate::planning::Target;
use std::collections::BTreeSet;
use values::address::{
    AbsoluteResource, InstanceKey, ModuleInstance, ResourceInstance, ResourceMode,
};

/// One thing that is moved, as it is told of: a module, a resource, or an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where it was.
    pub from: String,
    /// Where it is from then on.
    pub to: String,
}

impl Relocation {
    fn new(from: &impl ToString, to: &impl ToString) -> Relocation {
        Relocation { from: from.to_string(), to: to.to_string() }
    }
}

/// Moves what is recorded at one address to another.
///
/// What an earlier move between the same addresses has moved before it died is left where it is, so that the same move goes on.
///
/// # Errors
/// Where nothing is recorded at the source, something is at the target, or one cannot become the other.
pub fn relocate(
    reading: &EstateReading,
    source: &Target,
    target: &Target,
) -> Result<(Vec<Relocation>, Edits), EditError> {
    let records = Records(reading);
    let nothing = || EditError::NothingToMove(Box::new(source.clone()));
    match source {
        Target::Module(from) => {
            let modules = records.modules_within(from);
            let first = modules.first().copied().ok_or_else(nothing)?;
            let Target::Module(to) = target else {
                return Err(EditError::NotAModule(first.clone(), Box::new(target.clone())));
            };
            records.move_modules(modules, from, to)
        }
        Target::Resource(from) => {
            let alone = from.instance(InstanceKey::None);
            if records.has(&alone) {
                return records.move_instance(&alone, target);
            }
            match records.instances_of(from).next() {
                None => Err(nothing()),
                Some(_) => records.move_resource(from, target),
            }
        }
        Target::Instance(from) => records.move_instance(from, target),
    }
}

struct Records<'r>(&'r EstateReading);

impl Records<'_> {
    fn has(&self, address: &ResourceInstance) -> bool {
        self.0.state.instances.contains_key(address)
    }

    fn instances_of(&self, resource: &AbsoluteResource) -> impl Iterator<Item = &ResourceInstance> {
        let addresses = self.0.state.instances.keys();
        addresses.filter(move |address| address.containing() == *resource)
    }

    fn instances_in(&self, module: &ModuleInstance) -> impl Iterator<Item = &ResourceInstance> {
        self.0.state.instances.keys().filter(move |address| address.module == *module)
    }

    fn modules_within(&self, module: &ModuleInstance) -> BTreeSet<&ModuleInstance> {
        let modules = self.0.state.instances.keys().map(|address| &address.module);
        modules.filter(|found| found.0.starts_with(&module.0)).collect()
    }

    /// Whether what is recorded at an address came from there, where nothing is any more.
    fn came_from(&self, address: &ResourceInstance, origin: &ResourceInstance) -> bool {
        let facts = self.0.records.get(address);
        let moved_from = facts.and_then(|facts| facts.moved_from.as_ref());
        !self.has(origin) && moved_from.is_some_and(|from| from.address == origin.to_string())
    }

    fn move_modules(
        &self,
        modules: BTreeSet<&ModuleInstance>,
        from: &ModuleInstance,
        to: &ModuleInstance,
    ) -> Result<(Vec<Relocation>, Edits), EditError> {
        let (mut told, mut edits) = (Vec::new(), Edits::default());
        for module in modules {
            let below = module.0.get(from.0.len()..).unwrap_or_default();
            let now = ModuleInstance(to.0.iter().chain(below).cloned().collect());
            let there = |address: &ResourceInstance, module: &ModuleInstance| {
                address.resource.absolute(module).instance(address.key.clone())
            };
            if self.instances_in(&now).any(|a| !self.came_from(a, &there(a, module))) {
                return Err(EditError::ModuleExists(now));
            }
            for address in self.instances_in(module) {
                let target = there(address, &now);
                edits.whole.extend([address.containing(), target.containing()]);
                edits.add(address.clone(), Edit::Move(target));
            }
            told.push(Relocation::new(module, &now));
        }
        Ok((told, edits))
    }

    fn move_resource(
        &self,
        from: &AbsoluteResource,
        target: &Target,
    ) -> Result<(Vec<Relocation>, Edits), EditError> {
        let Target::Resource(to) = target else {
            return Err(EditError::NotAWholeResource(
                Box::new(from.clone()),
                Box::new(target.clone()),
            ));
        };
        check_kinds(from, to)?;
        let origin = |address: &ResourceInstance| from.instance(address.key.clone());
        if self.instances_of(to).any(|address| !self.came_from(address, &origin(address))) {
            return Err(EditError::ResourceExists(Box::new(to.clone())));
        }
        let mut edits = Edits::default();
        edits.whole.extend([from.clone(), to.clone()]);
        for address in self.instances_of(from) {
            edits.add(address.clone(), Edit::Move(to.instance(address.key.clone())));
        }
        Ok((vec![Relocation::new(from, to)], edits))
    }

    fn move_instance(
        &self,
        from: &ResourceInstance,
        target: &Target,
    ) -> Result<(Vec<Relocation>, Edits), EditError> {
        let to = match target {
            Target::Instance(to) => to.clone(),
            Target::Resource(to) => to.instance(InstanceKey::None),
            Target::Module(_) => {
                return Err(EditError::NotAnInstance(
                    Box::new(from.clone()),
                    Box::new(target.clone()),
                ));
            }
        };
        check_kinds(&from.containing(), &to.containing())?;
        if self.has(&to) {
            return Err(EditError::InstanceExists(Box::new(to)));
        }
        if !self.has(from) {
            return Err(EditError::NotRecorded(Box::new(from.clone())));
        }
        let told = vec![Relocation::new(from, &to)];
        Ok((told, Edits::of_one(from.clone(), Edit::Move(to))))
    }
}

/// Whether objects of one resource can be recorded as those of the other.
fn check_kinds(from: &AbsoluteResource, to: &AbsoluteResource) -> Result<(), EditError> {
    let both = (Box::new(from.clone()), Box::new(to.clone()));
    if from.resource.mode != to.resource.mode {
        let mode = match from.resource.mode {
            ResourceMode::Managed => "managed",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => "ephemeral",
        };
        return Err(EditError::OtherMode(both.0, both.1, mode));
    }
    match from.resource.ty == to.resource.ty {
        true => Ok(()),
        false => Err(EditError::OtherType(both.0, both.1)),
    }
}
