//! The graph of an apply: changes in the order of what refers to what, deletions in the opposite
//! order, and both around replacements.

use super::check_results::unchecked;
use super::members::put_aside;
use crate::changes::{Action, ResourceInstanceChange};
use crate::evaluation::EvalContext;
use crate::graph::{Graph, VertexId};
use crate::hashing::HashMap;
use crate::object::DeposedKey;
use crate::plan::{Plan, PlanMode};
use crate::transaction::Progress;
use crate::vertex::{ConfigurationEdges, Replaced, Vertex};
use language::module::Configuration;
use std::collections::{BTreeMap, BTreeSet};
use values::address::{
    AbsoluteResource, ConfigResource, ProviderConfigAddress, ResourceInstance, ResourceMode,
};

/// The graph, and the keys under which replaced objects wait for their deletion.
pub(crate) struct ApplyGraph {
    pub(crate) graph: Graph<Vertex>,
    pub(crate) deposed: HashMap<ResourceInstance, DeposedKey>,
}

/// What is changed and deleted of one resource in one module instance.
#[derive(Default)]
struct Members {
    changes: Vec<VertexId>,
    /// With whether the replacement comes first.
    deletions: Vec<(VertexId, Replaced)>,
    /// What its recorded objects referred to.
    recorded_dependencies: BTreeSet<ConfigResource>,
    provider: Option<ProviderConfigAddress>,
}

/// Where an earlier invocation has put an object aside, its key is used again.
pub(crate) fn build(context: &EvalContext, plan: &Plan, resumed: Option<&Progress>) -> ApplyGraph {
    let random = &context.environment.random;
    assemble(&context.configuration, plan, resumed, || {
        let mut bytes = [0; 4];
        random.fill(&mut bytes);
        DeposedKey::new(bytes)
    })
}

/// The graph without keys that anybody may use: for the question whether a plan can be applied.
pub(crate) fn rehearse(configuration: &Configuration, plan: &Plan) -> Graph<Vertex> {
    assemble(configuration, plan, None, || DeposedKey::new([0; 4])).graph
}

fn assemble(
    configuration: &Configuration,
    plan: &Plan,
    resumed: Option<&Progress>,
    new_key: impl Fn() -> DeposedKey,
) -> ApplyGraph {
    let mut graph = Graph::new();
    let mut edges = ConfigurationEdges { configuration, graph: &mut graph };
    let destroying = plan.mode == PlanMode::Destroy;
    edges.add_named_values();
    let unchecked = unchecked(plan);
    // Also what nothing uses is checked, as in Terraform.
    let checks_all = plan.mode == PlanMode::Normal && !plan.targeted;
    let changed: BTreeSet<ConfigResource> = plan
        .changes
        .resources
        .iter()
        .filter(|change| is_change(change.action))
        .map(|change| change.address.config())
        .chain(unchecked.keys().cloned())
        .collect();
    add_resources(&mut edges, &changed);
    let mut members = BTreeMap::<AbsoluteResource, Members>::new();
    let mut deposed = HashMap::default();
    for change in &plan.changes.resources {
        if change.action == Action::NoOp {
            continue;
        }
        let entry = members.entry(change.address.containing()).or_default();
        entry.provider = Some(change.provider.clone());
        let recorded = plan.prior.instances.get(&change.address);
        for object in recorded.iter().flat_map(|i| i.current.iter().chain(i.deposed.values())) {
            entry.recorded_dependencies.extend(object.dependencies.iter().cloned());
        }
        let aside = resumed
            .and_then(|progress| progress.members.get(&change.address))
            .and_then(|member| put_aside(&member.standing));
        let key =
            (change.action == Action::CreateThenDelete).then(|| aside.unwrap_or_else(&new_key));
        add_change(&mut edges, change, key.clone(), entry);
        if let Some(key) = key {
            deposed.insert(change.address.clone(), key);
        }
    }
    let closure = dependency_closure(plan, &members);
    order_deletions(&mut graph, &members, &closure);
    for (resource, group) in &members {
        let whole = Vertex::Resource(resource.config());
        if let Some(whole) = graph.id(&whole) {
            for change in &group.changes {
                graph.connect(whole, *change);
            }
        }
    }
    settle_before_checks(configuration, &mut graph);
    let wanted: Vec<VertexId> = graph
        .ids()
        .filter(|id| match graph.vertex(*id) {
            Vertex::Change(_) | Vertex::Destroy(..) => true,
            // A plan of some resources says nothing about the outputs of others.
            Vertex::Output(module, name) => {
                let planned = !plan.targeted || plan.changes.outputs.contains_key(name);
                let output = configuration.get(module).and_then(|n| n.module.outputs.get(name));
                let checked = output.is_some_and(|output| !output.preconditions.is_empty());
                match module.is_root() {
                    true => planned && !destroying,
                    false => checked && checks_all,
                }
            }
            Vertex::Check(..) => !destroying && !plan.targeted,
            // As in Terraform, also what nothing uses: its conditions may say something.
            Vertex::Resource(resource) if resource.resource.mode == ResourceMode::Ephemeral => {
                !destroying && !plan.targeted
            }
            Vertex::Resource(resource) => unchecked.contains_key(resource),
            Vertex::Variable(path, name) => {
                let variable = configuration.get(path).and_then(|n| n.module.variables.get(name));
                let checked = variable.is_some_and(|variable| !variable.validations.is_empty());
                checked && checks_all
            }
            _ => false,
        })
        .collect();
    let keep = graph.reachable(wanted);
    ApplyGraph { graph: graph.retain(&keep), deposed }
}

/// Adds all resources, and what those of which something changes are made of.
pub(super) fn add_resources(
    edges: &mut ConfigurationEdges<'_>,
    changed: &BTreeSet<ConfigResource>,
) {
    let configuration = edges.configuration;
    for node in configuration.modules() {
        for resource in node.module.resources.keys() {
            let resource = resource.in_module(&node.path);
            let whole = edges.graph.add(Vertex::Resource(resource.clone()));
            if resource.resource.mode == ResourceMode::Ephemeral {
                // Nothing of it is in the plan: it is opened again.
                edges.add_resource_edges(whole, &resource);
                if let Some(address) = configuration.provider_for(&resource) {
                    let provider = edges.add_provider(&address);
                    edges.graph.connect(whole, provider);
                }
                continue;
            }
            let expansion = edges.graph.add(Vertex::Expansion(resource.clone()));
            edges.graph.connect(whole, expansion);
            let module = edges.module_vertex(&node.path);
            edges.after(expansion, module);
            // What does not change needs no evaluation: its values are the plan's.
            if changed.contains(&resource) {
                edges.add_resource_edges(expansion, &resource);
                if let Some(address) = configuration.provider_for(&resource) {
                    let provider = edges.add_provider(&address);
                    edges.graph.connect(expansion, provider);
                }
            }
        }
    }
}

/// What check blocks read is read after all changes, so that it is what came of them.
fn settle_before_checks(configuration: &Configuration, graph: &mut Graph<Vertex>) {
    let in_check = |address: &ResourceInstance| {
        let block = configuration.resource(&address.config());
        block.is_some_and(|block| block.check.is_some())
    };
    let (reads, changes): (Vec<VertexId>, Vec<VertexId>) = graph
        .ids()
        .filter(|id| matches!(graph.vertex(*id), Vertex::Change(_) | Vertex::Destroy(..)))
        .partition(|id| matches!(graph.vertex(*id), Vertex::Change(address) if in_check(address)));
    if reads.is_empty() {
        return;
    }
    let settled = graph.add(Vertex::Settled);
    for change in changes {
        graph.connect(settled, change);
    }
    for read in reads {
        graph.connect(read, settled);
    }
}

fn is_change(action: Action) -> bool {
    !matches!(action, Action::NoOp | Action::Delete | Action::Forget)
}

fn add_change(
    edges: &mut ConfigurationEdges<'_>,
    change: &ResourceInstanceChange,
    key: Option<DeposedKey>,
    group: &mut Members,
) {
    let address = &change.address;
    let changed = is_change(change.action).then(|| {
        let id = edges.graph.add(Vertex::Change(address.clone()));
        let expansion = edges.graph.add(Vertex::Expansion(address.config()));
        edges.graph.connect(id, expansion);
        group.changes.push(id);
        id
    });
    if matches!(change.action, Action::Create | Action::Update | Action::Read | Action::NoOp) {
        return;
    }
    let object = key.or_else(|| change.deposed.clone());
    let deletion = edges.graph.add(Vertex::Destroy(address.clone(), object));
    let provider = edges.add_provider(&change.provider);
    edges.graph.connect(deletion, provider);
    let first = match change.action {
        Action::CreateThenDelete => Replaced::Before,
        Action::Delete if change.create_before_destroy => Replaced::Before,
        _ => Replaced::After,
    };
    group.deletions.push((deletion, first));
    if let Some(changed) = changed {
        match change.action {
            Action::CreateThenDelete => edges.graph.connect(deletion, changed),
            _ => edges.graph.connect(changed, deletion),
        }
    }
}

/// For each resource with members, the resources with members that its recorded objects depend on,
/// directly or through resources without.
fn dependency_closure(
    plan: &Plan,
    members: &BTreeMap<AbsoluteResource, Members>,
) -> BTreeMap<AbsoluteResource, BTreeSet<ConfigResource>> {
    let mut direct = HashMap::<ConfigResource, BTreeSet<ConfigResource>>::default();
    for (address, instance) in &plan.prior.instances {
        let entry = direct.entry(address.config()).or_default();
        for object in instance.current.iter().chain(instance.deposed.values()) {
            entry.extend(object.dependencies.iter().cloned());
        }
    }
    let with_members: BTreeSet<ConfigResource> = members.keys().map(|r| r.config()).collect();
    members
        .iter()
        .map(|(resource, group)| {
            let own = resource.config();
            let mut seen = BTreeSet::new();
            let mut found = BTreeSet::new();
            let mut pending: Vec<&ConfigResource> = group.recorded_dependencies.iter().collect();
            while let Some(next) = pending.pop() {
                if *next == own || !seen.insert(next) {
                    continue;
                }
                // From there on, its own edges lead further.
                match with_members.contains(next) {
                    true => {
                        found.insert(next.clone());
                    }
                    false => pending.extend(direct.get(next).into_iter().flatten()),
                }
            }
            (resource.clone(), found)
        })
        .collect()
}

/// A dependent is deleted before what it depends on; a dependency is changed after its dependents
/// are deleted, and before its dependents are changed. Where replacements come first, the deletion
/// waits for the dependents to have moved over.
fn order_deletions(
    graph: &mut Graph<Vertex>,
    members: &BTreeMap<AbsoluteResource, Members>,
    closure: &BTreeMap<AbsoluteResource, BTreeSet<ConfigResource>>,
) {
    let mut by_config = BTreeMap::<ConfigResource, Vec<&AbsoluteResource>>::new();
    for resource in members.keys() {
        by_config.entry(resource.config()).or_default().push(resource);
    }
    for (resource, group) in members {
        for (deletion, replaced) in &group.deletions {
            let all = graph.add(Vertex::Destroyed(resource.clone(), *replaced));
            graph.connect(all, *deletion);
        }
        if !group.changes.is_empty() {
            let all = graph.add(Vertex::Changed(resource.clone()));
            for change in &group.changes {
                graph.connect(all, *change);
            }
        }
    }
    for (dependent, dependencies) in closure {
        let Some(group) = members.get(dependent) else { continue };
        for dependency in dependencies.iter().filter_map(|d| by_config.get(d)).flatten() {
            if in_different_instances_of_one_module(dependent, dependency) {
                continue;
            }
            let Some(other) = members.get(*dependency) else { continue };
            let cross = group.provider != other.provider;
            order_pair(graph, (dependent, group), (dependency, other), cross);
        }
    }
}

fn order_pair(
    graph: &mut Graph<Vertex>,
    (dependent, group): (&AbsoluteResource, &Members),
    (dependency, other): (&AbsoluteResource, &Members),
    cross: bool,
) {
    let mut wait = |from: VertexId, on: Vertex| {
        let Some(on) = graph.id(&on) else { return };
        // A provider whose configuration comes from what is replaced may leave no order at all:
        // then what providers need goes first.
        if cross && graph.reachable([on])[from.index()] {
            return;
        }
        graph.connect(from, on);
    };
    for replaced in [Replaced::Before, Replaced::After] {
        for (deletion, _) in &other.deletions {
            wait(*deletion, Vertex::Destroyed(dependent.clone(), replaced));
        }
    }
    for change in &group.changes {
        wait(*change, Vertex::Destroyed(dependency.clone(), Replaced::After));
    }
    for (deletion, _) in other.deletions.iter().filter(|(_, r)| *r == Replaced::Before) {
        wait(*deletion, Vertex::Changed(dependent.clone()));
    }
    for change in &other.changes {
        wait(*change, Vertex::Destroyed(dependent.clone(), Replaced::After));
    }
    for (deletion, _) in group.deletions.iter().filter(|(_, r)| *r == Replaced::Before) {
        wait(*deletion, Vertex::Changed(dependency.clone()));
    }
}

fn in_different_instances_of_one_module(a: &AbsoluteResource, b: &AbsoluteResource) -> bool {
    !a.module.is_root() && a.module.path() == b.module.path() && a.module != b.module
}
