//! `-target`: planning some resources, with all that they depend on, and nothing else.

use crate::graph::{Graph, VertexId};
use crate::hashing::{HashMap, HashSet};
use crate::moving::MovedInstances;
use crate::plan::PlanMode;
use crate::state::State;
use crate::vertex::Vertex;
use language::diagnostics::Diagnostic;
use language::module::{is_reserved, reserved};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use values::address::{
    AbsoluteResource, AddressError, ConfigResource, InstanceKey, ModuleInstance, ResourceInstance,
    ResourceMode,
};

/// What a person wants planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A module with all that it holds. Without a key at its end, every instance of it.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsoluteResource),
    /// One instance.
    Instance(ResourceInstance),
}

impl FromStr for Target {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Target, AddressError> {
        if let Ok(module) = text.parse::<ModuleInstance>()
            && !module.is_root()
        {
            return Ok(Target::Module(module));
        }
        let instance: ResourceInstance = text.parse()?;
        let word = &*instance.resource.ty;
        if instance.resource.mode == ResourceMode::Managed
            && is_reserved(word)
            && !text.contains(&format!("resource.{word}."))
        {
            let reason = reserved(word).trim_end_matches('.').to_owned();
            return Err(AddressError { text: text.into(), reason });
        }
        Ok(match instance.key {
            InstanceKey::None => Target::Resource(instance.containing()),
            _ => Target::Instance(instance),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Module(module) => write!(f, "{module}"),
            Target::Resource(resource) => write!(f, "{resource}"),
            Target::Instance(instance) => write!(f, "{instance}"),
        }
    }
}

impl Target {
    fn contains(&self, address: &ResourceInstance) -> bool {
        match self {
            Target::Module(module) => {
                let Some((last, callers)) = module.0.split_last() else { return true };
                let mut steps = address.module.0.iter();
                callers.iter().all(|caller| steps.next() == Some(caller))
                    && steps.next().is_some_and(|step| {
                        let every = last.key == InstanceKey::None;
                        step.name == last.name && (every || step.key == last.key)
                    })
            }
            Target::Resource(resource) => address.containing() == *resource,
            Target::Instance(instance) => address == instance,
        }
    }

    /// Whether some instance of the resource may be meant.
    fn concerns(&self, resource: &ConfigResource) -> bool {
        match self {
            Target::Module(module) => resource.module.0.starts_with(&module.path().0),
            Target::Resource(wanted) => wanted.config() == *resource,
            Target::Instance(wanted) => wanted.config() == *resource,
        }
    }
}

/// The resources that are planned, and which of their instances.
#[derive(Default)]
pub(crate) struct Targeting {
    targets: Vec<Target>,
    /// Resources of which only the targeted instances are planned.
    direct: HashSet<ConfigResource>,
    /// In a destroy plan the managed resources that go; others are there for providers alone, and stay.
    deleted: Option<HashSet<ConfigResource>>,
}

impl Targeting {
    /// Whether an instance of a planned resource is planned.
    pub(crate) fn includes(&self, address: &ResourceInstance) -> bool {
        let resource = address.config();
        if address.resource.mode == ResourceMode::Managed
            && self.deleted.as_ref().is_some_and(|deleted| !deleted.contains(&resource))
        {
            return false;
        }
        !self.direct.contains(&resource)
            || self.targets.iter().any(|target| target.contains(address))
    }

    /// What is to be kept of a graph.
    pub(crate) fn select(
        targets: &[Target],
        graph: &Graph<Vertex>,
        mode: PlanMode,
        prior: &State,
    ) -> (Targeting, Vec<bool>) {
        let mut direct = HashSet::default();
        for id in graph.ids() {
            if let Vertex::Resource(resource) = graph.vertex(id)
                && targets.iter().any(|target| target.concerns(resource))
            {
                direct.insert(resource.clone());
            }
        }
        let dependents = match mode {
            PlanMode::Destroy => dependents(&direct, targets, prior),
            PlanMode::Normal | PlanMode::RefreshOnly => HashSet::default(),
        };
        let destroying = mode == PlanMode::Destroy;
        let mut wanted = Vec::new();
        let mut deleted = HashSet::default();
        for id in graph.ids() {
            let Vertex::Resource(resource) = graph.vertex(id) else { continue };
            if !direct.contains(resource) && !dependents.contains(resource) {
                continue;
            }
            if destroying && resource.resource.mode != ResourceMode::Managed {
                // Nothing of it is in the world: what depends on it goes, and it is read for providers alone.
                continue;
            }
            wanted.push(id);
            if destroying {
                deleted.insert(resource.clone());
            }
        }
        let mut keep = graph.reachable(wanted);
        if !destroying {
            keep_outputs(graph, &mut keep);
        }
        direct.retain(|resource| !dependents.contains(resource));
        if destroying {
            direct.retain(|resource| resource.resource.mode == ResourceMode::Managed);
        }
        let deleted = destroying.then_some(deleted);
        (Targeting { targets: targets.to_vec(), direct, deleted }, keep)
    }
}

/// Resources whose recorded objects depend on what is deleted: they go first.
fn dependents(
    direct: &HashSet<ConfigResource>,
    targets: &[Target],
    prior: &State,
) -> HashSet<ConfigResource> {
    let mut by_dependency = HashMap::<&ConfigResource, BTreeSet<ConfigResource>>::default();
    for (address, instance) in &prior.instances {
        for object in instance.current.iter().chain(instance.deposed.values()) {
            for dependency in object.dependencies.iter() {
                by_dependency.entry(dependency).or_default().insert(address.config());
            }
        }
    }
    let deleted = prior.instances.keys().filter(|a| targets.iter().any(|t| t.contains(a)));
    let mut pending: Vec<ConfigResource> =
        deleted.map(ResourceInstance::config).filter(|r| direct.contains(r)).collect();
    let mut seen: HashSet<ConfigResource> = pending.iter().cloned().collect();
    let mut found = HashSet::default();
    while let Some(next) = pending.pop() {
        for dependent in by_dependency.get(&next).into_iter().flatten() {
            found.insert(dependent.clone());
            if seen.insert(dependent.clone()) {
                pending.push(dependent.clone());
            }
        }
    }
    found
}

/// Root outputs that come from planned resources alone are brought up to date with them.
fn keep_outputs(graph: &Graph<Vertex>, keep: &mut [bool]) {
    let planned = keep.to_vec();
    let outputs = graph
        .ids()
        .filter(|id| matches!(graph.vertex(*id), Vertex::Output(module, _) if module.is_root()));
    for output in outputs {
        let reached = graph.reachable([output]);
        let of = |id: &VertexId| reached[id.index()];
        let is_resource = |id: &VertexId| matches!(graph.vertex(*id), Vertex::Resource(_));
        let mut resources = graph.ids().filter(of).filter(is_resource).peekable();
        if resources.peek().is_some() && resources.all(|id| planned[id.index()]) {
            for id in graph.ids().filter(of) {
                keep[id.index()] = true;
            }
        }
    }
}

/// That not everything is planned.
pub(super) fn warning() -> Diagnostic {
    Diagnostic::warning(
        "Resource targeting is in effect",
        "You are creating a plan with the -target option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -target option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes, or when Plumbline specifically suggests to use it as part of an error message.",
    )
}

/// The refusal to plan only one end of a move.
pub(super) fn moves_excluded(targets: &[Target], moves: &MovedInstances) -> Option<Diagnostic> {
    if targets.is_empty() {
        return None;
    }
    let ends = moves.iter().flat_map(|(now, origin)| [now, origin]);
    let excluded: BTreeSet<AbsoluteResource> = ends
        .filter(|address| !targets.iter().any(|target| target.contains(address)))
        .map(ResourceInstance::containing)
        .collect();
    let options: String =
        excluded.iter().map(|r| format!("\n  -target={:?}", r.to_string())).collect();
    (!excluded.is_empty()).then(|| {
        Diagnostic::error(
            "Moved resource instances excluded by targeting",
            format!(
                "Resource instances in your current state have moved to new addresses in the latest configuration. Plumbline must include those resource instances while planning in order to ensure a correct result, but your -target=... options do not fully cover all of those resource instances.\n\nTo create a valid plan, either remove your -target=... options altogether or add the following additional target options:{options}\n\nNote that adding these options may include further additional resource instances in your plan, in order to respect object dependencies."
            ),
        )
    })
}
