//! What an instance depends on and what depends on it, as far as it changes as well.

use super::ExplainedAttribute;
use super::difference::differences;
use super::origins::{Fate, Origin, Scope, fates};
use super::scene::Scene;
use engine::changes::{Action, ResourceInstanceChange};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ConfigResource, ModuleInstance, ResourceInstance};
use values::schema::{Attribute, Block};
use values::{Path, PathStep};

/// An instance that changes as well.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    pub(super) address: ResourceInstance,
    pub(super) action: Action,
    /// Whether it was changed behind the records, and not by the plan.
    pub(super) outside: bool,
    /// The references between the two; none where only the records know of one.
    pub(super) links: Vec<Link>,
}

/// One reference from one instance to another.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The argument or block that holds the reference, directly or through other values.
    pub(super) argument: Arc<str>,
    /// What is referred to, in the words of the module where that is written.
    pub(super) reference: String,
    /// The part that is referred to, before and after; `None` where it stays as it is.
    pub(super) difference: Option<(String, String)>,
    /// Whether the reference is to all of the instance.
    pub(super) whole: bool,
}

impl Scene<'_> {
    /// The parts that a change changes, with what they come from.
    pub(super) fn attributes(
        &self,
        change: &ResourceInstanceChange,
        refresh_only: bool,
    ) -> Vec<ExplainedAttribute> {
        let address = &change.address;
        let (resource, scope) = (address.config(), Scope::of(&address.module, &address.resource));
        let drift = self.drift(address).filter(|_| !refresh_only);
        let block = self.view.block(change);
        let explained = differences(&self.view, change).into_iter().map(|difference| {
            let outside = drift.and_then(|drift| {
                super::difference::difference_at(&self.view, drift, &difference.path)
            });
            let written = match refresh_only {
                true => None,
                false => self.references_at(&resource, &difference.path),
            };
            let Some((place, references)) = written else {
                let decided = match refresh_only {
                    true => None,
                    false => Some(decided(block, &difference.path, difference.is_removed)),
                };
                let (place, from) = (None, Vec::new());
                return ExplainedAttribute { difference, place, decided, outside, from };
            };
            let from = self.trace(&scope, references);
            ExplainedAttribute { difference, place, decided: None, outside, from }
        });
        explained.collect()
    }

    /// The arguments of a resource and what is written beside them, with what each comes from.
    fn arguments(
        &self,
        module: &ModuleInstance,
        resource: &ConfigResource,
    ) -> Vec<(Arc<str>, Vec<Origin>)> {
        let Some(block) = self.block(resource) else { return Vec::new() };
        let scope = Scope::of(module, &resource.resource);
        let mut names: BTreeSet<Arc<str>> =
            block.config.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        for block in &block.config.blocks {
            let name = match &*block.type_name {
                "dynamic" => block.labels.first().map(|label| label.text.clone()),
                _ => Some(block.type_name.clone()),
            };
            names.extend(name);
        }
        let named = names.into_iter().filter_map(|name| {
            let (_, references) = self.references_at(resource, &Path::attribute(name.clone()))?;
            Some((name, self.trace(&scope, references)))
        });
        let mut arguments: Vec<_> = named.collect();
        for (name, _, references) in self.meta_references(block) {
            arguments.push((name.into(), self.trace(&scope, references)));
        }
        arguments
    }

    /// What an instance depends on that changes as well.
    pub(super) fn depends_on(
        &self,
        address: &ResourceInstance,
        change: Option<&ResourceInstanceChange>,
    ) -> Vec<Neighbour> {
        let mut found = BTreeMap::new();
        let goes = change.is_some_and(|c| matches!(c.action, Action::Delete | Action::Forget));
        if goes || self.block(&address.config()).is_none() {
            let recorded = change.iter().flat_map(|change| change.dependencies.iter());
            let changes = recorded.flat_map(|resource| self.changes_of(resource));
            for other in changes.filter(|c| c.action != Action::NoOp && c.address != *address) {
                add(&mut found, &other.address, other.action, false, None);
            }
            return found.into_values().collect();
        }
        for (argument, origins) in self.arguments(&address.module, &address.config()) {
            for (reference, fate) in fates(&origins) {
                if fate.address != *address {
                    let link = link(&argument, reference, fate);
                    add(&mut found, &fate.address, fate.action, fate.outside, Some(link));
                }
            }
        }
        found.into_values().collect()
    }

    /// What depends on an instance that changes, and changes as well.
    pub(super) fn dependents(&self, address: &ResourceInstance) -> Vec<Neighbour> {
        let mut found = BTreeMap::new();
        let here = address.config();
        for resource in self.resources().filter(|resource| **resource != here) {
            let changed = self.changes_of(resource).iter().filter(|c| c.action != Action::NoOp);
            let mut by_module = BTreeMap::<&ModuleInstance, Vec<&ResourceInstanceChange>>::new();
            for change in changed {
                by_module.entry(&change.address.module).or_default().push(change);
            }
            for (module, changes) in by_module {
                // Instances of one resource have their references in common.
                let arguments = self.arguments(module, resource);
                let links: Vec<Link> = arguments
                    .iter()
                    .flat_map(|(argument, origins)| {
                        let fates = fates(origins);
                        let here = fates.into_iter().filter(|(_, fate)| fate.address == *address);
                        here.map(|(reference, fate)| link(argument, reference, fate))
                    })
                    .collect();
                for change in changes {
                    let gone = matches!(change.action, Action::Delete | Action::Forget);
                    let recorded = change.dependencies.contains(&here);
                    if gone || arguments.is_empty() {
                        if recorded {
                            add(&mut found, &change.address, change.action, false, None);
                        }
                        continue;
                    }
                    for link in &links {
                        let link = Some(link.clone());
                        add(&mut found, &change.address, change.action, false, link);
                    }
                }
            }
        }
        // Without a change of its own, nothing changes with it.
        match self.change(address).is_some_and(|change| change.action != Action::NoOp)
            || self.drift(address).is_some()
        {
            true => found.into_values().collect(),
            false => Vec::new(),
        }
    }

    /// Root outputs that change and refer to an instance that does.
    pub(super) fn changed_outputs(&self, address: &ResourceInstance) -> Vec<String> {
        let changed = self.saved.plan.changes.outputs.iter();
        let changed = changed.filter(|(_, output)| output.action != Action::NoOp);
        let module = &self.configuration.root.module;
        let refers = changed.filter(|(name, _)| {
            let Some(output) = module.outputs.get(*name) else { return false };
            let references = language::reference::references_in(&output.expression);
            let origins = self.trace(&Scope::module(&ModuleInstance::root()), references);
            fates(&origins).iter().any(|(_, fate)| fate.address == *address)
        });
        refers.map(|(name, _)| name.to_string()).collect()
    }
}

fn link(argument: &Arc<str>, reference: &str, fate: &Fate) -> Link {
    Link {
        argument: argument.clone(),
        reference: reference.to_owned(),
        difference: fate.difference.clone(),
        whole: fate.whole,
    }
}

fn add(
    found: &mut BTreeMap<ResourceInstance, Neighbour>,
    address: &ResourceInstance,
    action: Action,
    outside: bool,
    link: Option<Link>,
) {
    let neighbour = found.entry(address.clone()).or_insert_with(|| Neighbour {
        address: address.clone(),
        action,
        outside,
        links: Vec::new(),
    });
    neighbour.links.extend(link);
}

/// Who decides an attribute that is not configured.
fn decided(block: Option<&Block>, path: &Path, is_removed: bool) -> &'static str {
    let Some(PathStep::Attribute(name)) = path.0.first() else { return "decided by the provider" };
    let attribute = block.and_then(|block| block.attributes.get(name));
    let computed = attribute.is_some_and(|attribute: &Attribute| attribute.computed);
    match (computed, is_removed) {
        (false, true) => "no longer configured",
        _ => "decided by the provider",
    }
}
