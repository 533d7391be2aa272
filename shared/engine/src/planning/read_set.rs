//! Flattens the logs of a planning walk, for its changes alone: from each, through locals, variables,
//! outputs, expansions and data sources, to the attributes of resources.
//!
//! One search over all changes, that visits each part of each log once: sets are never copied from one
//! value to the next, so that a chain of n values costs n.

use super::PlanWalk;
use crate::changes::{Action, ActionReason, ResourceInstanceChange};
use crate::evaluation::{Expansion, Named, Reader};
use crate::hashing::{HashMap, HashSet};
use crate::reads::{LookedAt, ReadPath, Reads};
use language::module::ModuleNode;
use language::reads::{Extent, PartLog, PartReads, Read, ReadStep};
use language::reference::Subject;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{
    AbsoluteResource, InstanceKey, ModuleInstance, ModuleStep, ProviderConfigAddress,
    ResourceInstance, ResourceMode,
};
use values::{Kind, Path, PathStep, Value};

/// What the value is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Use {
    /// It decides what is planned.
    Planned,
    /// It configures a provider or is ephemeral: it decides nothing.
    Configuring,
}

type Steps = Vec<ReadStep>;

/// A part of a log to go through.
struct Visit {
    reader: Reader,
    path: Steps,
    extent: Extent,
}

/// What was looked at of one instance, so far.
#[derive(Default)]
struct Found {
    planned: HashSet<Steps>,
    configuring: HashSet<Steps>,
    /// Looked at for being there, if for nothing else.
    existence: bool,
}

struct Search<'a> {
    walk: &'a PlanWalk,
    logs: HashMap<Reader, Arc<PartReads>>,
    visited: HashSet<(Reader, Steps, Extent, Use)>,
    seen: HashSet<(AbsoluteResource, Steps, Extent, Use)>,
    seen_calls: HashSet<(ModuleInstance, Arc<str>, Steps, Extent, Use)>,
    pending: Vec<Visit>,
    /// What is for configuring alone waits until all else is found.
    postponed: Vec<Visit>,
    purpose: Use,
    found: BTreeMap<ResourceInstance, Found>,
    key_sets: BTreeSet<AbsoluteResource>,
}

/// What these changes looked at.
pub(super) fn reads(walk: &PlanWalk, changes: &[ResourceInstanceChange]) -> Reads {
    let mut search = Search {
        walk,
        logs: walk.context.logs.take(),
        visited: HashSet::default(),
        seen: HashSet::default(),
        seen_calls: HashSet::default(),
        pending: Vec::new(),
        postponed: Vec::new(),
        purpose: Use::Planned,
        found: BTreeMap::new(),
        key_sets: BTreeSet::new(),
    };
    changes.iter().filter(|change| is_change(change)).for_each(|change| search.change(change));
    search.dependents(changes);
    search.run();
    search.purpose = Use::Configuring;
    search.pending = std::mem::take(&mut search.postponed);
    search.run();
    search.finish()
}

/// Whether a change belongs to the write set. What a check looks at decides nothing: it may be anything
/// by then.
pub(crate) fn is_change(change: &ResourceInstanceChange) -> bool {
    change.reason != Some(ActionReason::ReadBecauseCheckNested)
        && (change.action != Action::NoOp || change.previous_address.is_some())
}

impl Search<'_> {
    fn change(&mut self, change: &ResourceInstanceChange) {
        let address = &change.address;
        self.configured_by(&change.provider);
        self.existence_of(&address.module);
        // Where the resource is still declared, its expansion says that the instance is wanted, or that it is not.
        self.visit(Reader::Expansion(address.containing()), Steps::new(), Extent::Keys);
        if change.deposed.is_none() && !matches!(change.action, Action::Delete | Action::Forget) {
            self.visit(Reader::Instance(address.clone()), Steps::new(), Extent::Value);
            self.visit(Reader::Import(address.clone()), Steps::new(), Extent::Value);
        }
    }

    /// What depends on something that goes may not appear or change meanwhile.
    fn dependents(&mut self, changes: &[ResourceInstanceChange]) {
        let deletes = |c: &&ResourceInstanceChange| {
            c.deposed.is_none() && (c.action == Action::Delete || c.action.is_replace())
        };
        let deleted: HashSet<_> =
            changes.iter().filter(deletes).map(|change| change.address.config()).collect();
        if deleted.is_empty() {
            return;
        }
        for (address, instance) in &self.walk.prior.instances {
            let mut objects = instance.current.iter().chain(instance.deposed.values());
            if objects.any(|object| object.dependencies.iter().any(|d| deleted.contains(d))) {
                self.found.entry(address.clone()).or_default().existence = true;
            }
        }
    }

    /// The expansion of every call on the way to a module instance.
    fn existence_of(&mut self, module: &ModuleInstance) {
        let mut parent = ModuleInstance::root();
        for ModuleStep { name, key } in module.0.iter() {
            self.visit(Reader::Call(parent.clone(), name.clone()), Steps::new(), Extent::Keys);
            parent = parent.child(name.clone(), key.clone());
        }
    }

    fn configured_by(&mut self, provider: &ProviderConfigAddress) {
        let visit = Visit {
            reader: Reader::Provider(provider.clone()),
            path: Steps::new(),
            extent: Extent::Value,
        };
        match self.purpose {
            Use::Planned => self.postponed.push(visit),
            Use::Configuring => self.pending.push(visit),
        }
    }

    fn visit(&mut self, reader: Reader, path: Steps, extent: Extent) {
        self.pending.push(Visit { reader, path, extent });
    }

    fn run(&mut self) {
        while let Some(visit) = self.pending.pop() {
            let ephemeral = self.purpose == Use::Planned && self.is_ephemeral(&visit.reader);
            if ephemeral {
                self.postponed.push(visit);
                continue;
            }
            self.go_through(visit);
        }
    }

    /// Whether a value is declared to be of this run alone.
    fn is_ephemeral(&self, reader: &Reader) -> bool {
        let Reader::Named(module, named) = reader else { return false };
        let Some(node) = self.walk.context.node(&module.path()) else { return false };
        match named {
            Named::Variable(name) => node.module.variables.get(name).is_some_and(|v| v.ephemeral),
            Named::Output(name) => node.module.outputs.get(name).is_some_and(|o| o.ephemeral),
            Named::Local(_) => false,
        }
    }

    fn is_visited(&mut self, visit: &Visit) -> bool {
        let mut key = (visit.reader.clone(), Steps::new(), Extent::Value, Use::Planned);
        if self.visited.contains(&key) {
            return true;
        }
        key.1 = visit.path.clone();
        key.2 = visit.extent;
        if self.visited.contains(&key) {
            return true;
        }
        key.3 = self.purpose;
        !self.visited.insert(key)
    }

    fn go_through(&mut self, visit: Visit) {
        if self.is_visited(&visit) {
            return;
        }
        let Some(log) = self.logs.get(&visit.reader).cloned() else { return };
        let Visit { reader, path, extent } = visit;
        let Some(attributes) = &log.attributes else {
            return self.part(&reader, &log.common, &path, extent);
        };
        // Which attributes there are is written down; what they are called may have been evaluated.
        self.part(&reader, &log.common, &[], Extent::Value);
        match path.split_first() {
            None if extent == Extent::Keys => {}
            None => {
                attributes.values().for_each(|part| self.part(&reader, part, &[], Extent::Value));
            }
            Some((step, rest)) => {
                if let Some(part) = attributes.get(&*name_of(step)) {
                    self.part(&reader, part, rest, extent);
                }
            }
        }
    }

    /// One part of a log, of which `path` was looked at.
    fn part(&mut self, reader: &Reader, part: &PartLog, path: &[ReadStep], extent: Extent) {
        for (at, read) in part.reads.iter().enumerate() {
            match part.alias == Some(at) {
                true => {
                    let path = read.path.iter().chain(path).cloned().collect();
                    self.read(reader, read, path, extent);
                }
                false => self.read(reader, read, read.path.clone(), read.extent),
            }
        }
    }

    fn read(&mut self, reader: &Reader, read: &Read, path: Steps, extent: Extent) {
        let module = module_of(reader);
        match &read.subject {
            Subject::Variable(name) if !module.is_root() => {
                let named = Named::Variable(name.clone());
                self.visit(Reader::Named(module, named), path, extent);
            }
            Subject::Local(name) => {
                self.visit(Reader::Named(module, Named::Local(name.clone())), path, extent);
            }
            Subject::ModuleCall(name) => self.call(&module, name, path, extent),
            Subject::Resource(resource) => {
                self.resource(resource.absolute(&module), path, extent);
            }
            Subject::EachValue => {
                if let Some((expansion, key)) = each_of(reader) {
                    let path = std::iter::once(ReadStep::Name(key)).chain(path).collect();
                    self.visit(expansion, path, extent);
                }
            }
            // What was given to this run, or follows from the address.
            Subject::Variable(_)
            | Subject::Path(_)
            | Subject::Terraform(_)
            | Subject::CountIndex
            | Subject::EachKey
            | Subject::SelfObject
            | Subject::Output(_)
            | Subject::Run(_) => {}
        }
    }

    /// Outputs of a module.
    fn call(&mut self, parent: &ModuleInstance, name: &Arc<str>, path: Steps, extent: Extent) {
        let key = (parent.clone(), name.clone(), path.clone(), extent, self.purpose);
        if !self.seen_calls.insert(key) {
            return;
        }
        let Some(expansion) = self.walk.context.working.call(parent, name) else { return };
        let Some(child) = self.child(parent, name) else { return };
        self.visit(Reader::Call(parent.clone(), name.clone()), Steps::new(), Extent::Keys);
        let (instances, rest) = instances(&expansion, &path);
        if rest.is_empty() && extent == Extent::Keys {
            return;
        }
        for key in instances {
            let module = parent.child(name.clone(), key);
            match rest.split_first() {
                Some((step, rest)) => {
                    let named = Named::Output(name_of(step));
                    self.visit(Reader::Named(module, named), rest.to_vec(), extent);
                }
                None => {
                    for output in child.module.outputs.keys() {
                        let named = Named::Output(output.clone());
                        let reader = Reader::Named(module.clone(), named);
                        self.visit(reader, Steps::new(), Extent::Value);
                    }
                }
            }
        }
    }

    fn child(&self, parent: &ModuleInstance, name: &Arc<str>) -> Option<Arc<ModuleNode>> {
        self.walk.context.node(&parent.path())?.children.get(name).cloned()
    }

    /// Attributes of a resource's instances: here the search ends, but for data sources, whose values are
    /// made of what they are configured with.
    fn resource(&mut self, resource: AbsoluteResource, path: Steps, extent: Extent) {
        if resource.resource.mode == ResourceMode::Ephemeral {
            return self.ephemeral(&resource);
        }
        if !self.seen.insert((resource.clone(), path.clone(), extent, self.purpose)) {
            return;
        }
        let Some(expansion) = self.walk.context.working.expansion(&resource) else { return };
        let several = !matches!(*expansion, Expansion::Single);
        let (instances, rest) = instances(&expansion, &path);
        let data = resource.resource.mode == ResourceMode::Data;
        let keyed = instances.len() == 1 && rest.len() < path.len();
        if several && !keyed && !data {
            self.key_sets.insert(resource.clone());
        }
        if data || !keyed {
            self.visit(Reader::Expansion(resource.clone()), Steps::new(), Extent::Keys);
        }
        // An instance that is named is looked at for what is in it, also where only its keys are.
        let existence = rest.is_empty() && extent == Extent::Keys;
        let rest = rest.to_vec();
        for key in instances {
            let address = resource.instance(key);
            if data {
                self.visit(Reader::Instance(address.clone()), Steps::new(), Extent::Value);
                if let Some(provider) =
                    self.walk.context.configuration.provider_for(&resource.config())
                {
                    self.configured_by(&provider);
                }
            }
            let found = self.found.entry(address).or_default();
            match (existence, self.purpose) {
                (true, _) => found.existence = true,
                (false, Use::Planned) => {
                    found.planned.insert(rest.clone());
                }
                (false, Use::Configuring) => {
                    found.configuring.insert(rest.clone());
                }
            }
        }
    }

    /// An ephemeral resource has no record, and is opened again: what it was made of is evaluated again with it.
    fn ephemeral(&mut self, resource: &AbsoluteResource) {
        let Some(expansion) = self.walk.context.working.expansion(resource) else { return };
        if !self.seen.insert((resource.clone(), Steps::new(), Extent::Value, self.purpose)) {
            return;
        }
        let instances = expansion.keys().into_iter().map(|key| resource.instance(key));
        let readers = instances.map(Reader::Instance);
        for reader in readers.chain([Reader::Expansion(resource.clone())]) {
            let visit = Visit { reader, path: Steps::new(), extent: Extent::Value };
            match self.purpose {
                Use::Planned => self.postponed.push(visit),
                Use::Configuring => self.pending.push(visit),
            }
        }
        if let Some(provider) = self.walk.context.configuration.provider_for(&resource.config()) {
            self.configured_by(&provider);
        }
    }

    fn finish(self) -> Reads {
        let working = &self.walk.context.working;
        let instances = self.found.into_iter().map(|(address, found)| {
            let value = working.instance(&address);
            let looked_at = found.looked_at(value.as_ref());
            (address, looked_at)
        });
        Reads { instances: instances.collect(), key_sets: self.key_sets }
    }
}

impl Found {
    fn looked_at(self, value: Option<&Value>) -> LookedAt {
        let path = |steps: &Steps| path_in(value, steps);
        if self.planned.iter().any(Vec::is_empty) {
            return LookedAt::Whole;
        }
        if self.planned.is_empty() && !self.existence {
            return LookedAt::Configuring(outermost(self.configuring.iter().map(path)));
        }
        let read = |path: Path| {
            let planned = value.and_then(|value| path.get(value));
            let planned = planned.filter(|planned| !planned.deep_marks().is_ephemeral());
            ReadPath { path, planned }
        };
        let paths = outermost(self.planned.iter().map(path));
        match paths.first() {
            Some(first) if first.is_root() => LookedAt::Whole,
            _ => LookedAt::Paths(paths.into_iter().map(read).collect()),
        }
    }
}

/// In order, without those that are inside another.
fn outermost(paths: impl Iterator<Item = Path>) -> Vec<Path> {
    let sorted: BTreeSet<Path> = paths.collect();
    let mut kept = Vec::<Path>::new();
    for path in sorted {
        // What is inside a path comes right after it.
        if kept.last().is_none_or(|outer| !path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// Steps as a path in a value; they end where nothing is known to be inside.
fn path_in(value: Option<&Value>, steps: &[ReadStep]) -> Path {
    let mut path = Path::root();
    let mut at = value.cloned();
    for step in steps {
        let Some(value) = at else { break };
        let next = match value.unmark().kind() {
            Kind::Object(_) => PathStep::Attribute(name_of(step)),
            Kind::Map(..) => PathStep::Key(name_of(step)),
            Kind::List(..) | Kind::Tuple(_) => match position(step) {
                Some(index) => PathStep::Index(index),
                None => break,
            },
            _ => break,
        };
        at = Path(vec![next.clone()]).get(&value);
        path.0.push(next);
    }
    path
}

fn position(step: &ReadStep) -> Option<usize> {
    match step {
        ReadStep::Index(index) => usize::try_from(*index).ok(),
        ReadStep::Name(name) => name.parse().ok(),
    }
}

/// A step as the name of an attribute: numbers are converted where names are wanted.
fn name_of(step: &ReadStep) -> Arc<str> {
    match step {
        ReadStep::Name(name) => name.clone(),
        ReadStep::Index(index) => index.to_string().into(),
    }
}

/// The instances that a path begins with, and the rest of it: all of them where it names none that there is.
fn instances<'p>(
    expansion: &Expansion,
    path: &'p [ReadStep],
) -> (Vec<InstanceKey>, &'p [ReadStep]) {
    let named = match (expansion, path.first()) {
        (Expansion::Single | Expansion::Unknown(_), _) => return (vec![InstanceKey::None], path),
        (Expansion::Count(_), Some(step)) => position(step).map(|at| InstanceKey::Int(at as u64)),
        (Expansion::ForEach(_), Some(step)) => Some(InstanceKey::String(name_of(step))),
        (_, None) => None,
    };
    match named {
        Some(key) if expansion.contains(&key) => (vec![key], &path[1..]),
        _ => (expansion.keys(), &[]),
    }
}

/// The module in which a reader's expressions are evaluated.
fn module_of(reader: &Reader) -> ModuleInstance {
    match reader {
        // An argument is evaluated in the calling module.
        Reader::Named(module, Named::Variable(_)) => {
            module.parent().unwrap_or_else(ModuleInstance::root)
        }
        Reader::Named(module, _) | Reader::Call(module, _) => module.clone(),
        Reader::Expansion(resource) => resource.module.clone(),
        Reader::Instance(address) => address.module.clone(),
        Reader::Provider(address) => {
            let step = |name: &Arc<str>| ModuleStep { name: name.clone(), key: InstanceKey::None };
            ModuleInstance(address.module.0.iter().map(step).collect())
        }
        Reader::Import(_) => ModuleInstance::root(),
    }
}

/// The expansion that `each.value` is an element of in a reader's expressions, and its key.
fn each_of(reader: &Reader) -> Option<(Reader, Arc<str>)> {
    let (expansion, key) = match reader {
        Reader::Instance(address) => (Reader::Expansion(address.containing()), &address.key),
        Reader::Named(module, Named::Variable(_)) => {
            let (parent, step) = (module.parent()?, module.0.last()?);
            (Reader::Call(parent, step.name.clone()), &step.key)
        }
        _ => return None,
    };
    match key {
        InstanceKey::String(key) => Some((expansion, key.clone())),
        _ => None,
    }
}
