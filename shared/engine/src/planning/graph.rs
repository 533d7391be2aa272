//! The graph of a planning walk.

use super::generated;
use super::targeting::{Target, Targeting};
use crate::declared::is_there;
use crate::evaluation::{EvalContext, Operation};
use crate::graph::{Graph, VertexId};
use crate::hashing::{HashMap, HashSet};
use crate::plan::PlanMode;
use crate::state::State;
use crate::vertex::{ConfigurationEdges, Vertex, direct_resources, references_in_body};
use language::diagnostics::Diagnostic;
use language::module::{Configuration, ModuleNode, ResourceBlock};
use language::reference::{Reference, Subject, references_in};
use language::syntax::ast::Traversal;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ConfigResource, ProviderConfigAddress, ResourceInstance, ResourceMode};

/// What follows from the shape of the graph.
pub(crate) struct PlanGraph {
    /// Recorded instances by resource.
    pub(crate) recorded: BTreeMap<ConfigResource, Vec<ResourceInstance>>,
    /// What each resource refers to, not through other resources.
    pub(crate) dependencies: HashMap<ConfigResource, Arc<[ConfigResource]>>,
    /// Resources whose replacement is created first: because they say so, or something that depends
    /// on them does.
    pub(crate) create_before_destroy: HashSet<ConfigResource>,
    /// For data sources that name managed resources, or depend on them: those that must not be about to change.
    pub(crate) data_depends_on: HashMap<ConfigResource, BTreeSet<ConfigResource>>,
    /// What alone is planned.
    pub(crate) targeting: Targeting,
}

pub(crate) fn build(
    context: &EvalContext,
    mode: PlanMode,
    targets: &[Target],
    previous: &State,
) -> (PlanGraph, Graph<Vertex>) {
    let configuration = &*context.configuration;
    let mut graph = Graph::new();
    let mut recorded = BTreeMap::<ConfigResource, Vec<ResourceInstance>>::new();
    for address in previous.instances.keys() {
        recorded.entry(address.config()).or_default().push(address.clone());
    }
    let declared: Vec<ConfigResource> = configuration
        .modules()
        .flat_map(|node| node.module.resources.keys().map(|r| r.in_module(&node.path)))
        .collect();
    let destroying = mode == PlanMode::Destroy;
    let mut edges = ConfigurationEdges { configuration, graph: &mut graph };
    edges.add_named_values();
    let mut resources = Vec::new();
    for resource in &declared {
        let id = edges.graph.add(Vertex::Resource(resource.clone()));
        // Deleting evaluates nothing of the resource itself, but what providers are configured with
        // may come from data sources, which are read, and ephemeral resources.
        if !destroying || resource.resource.mode != ResourceMode::Managed {
            edges.add_resource_edges(id, resource);
        }
        // A configuration that is not there is reported where its resources are planned.
        let provider = configuration.provider_for(resource);
        if let Some(address) = provider.filter(|address| is_there(configuration, address)) {
            let provider = edges.add_provider(&address);
            edges.graph.connect(id, provider);
        }
    }
    if !destroying {
        edges.add_import_edges();
        let imports = generated::without_resource(configuration);
        let providers = imports.filter_map(|i| generated::provider_of(configuration, i));
        for provider in providers.filter(|address| is_there(configuration, address)) {
            edges.add_provider(&provider);
        }
    }
    for (resource, instances) in &recorded {
        let vertex = Vertex::Resource(resource.clone());
        let is_declared = edges.graph.id(&vertex).is_some();
        let id = edges.graph.add(vertex);
        if is_declared && !destroying {
            continue;
        }
        resources.push(id);
        // The order of deletions is the apply graph's; here only the provider must be there.
        let providers: BTreeSet<&ProviderConfigAddress> = instances
            .iter()
            .filter_map(|address| previous.instances.get(address))
            .flat_map(|i| i.current.iter().chain(i.deposed.values()))
            .map(|object| &object.provider)
            .collect();
        for address in providers.into_iter().filter(|address| is_there(configuration, address)) {
            let provider = edges.add_provider(address);
            edges.graph.connect(id, provider);
        }
    }
    let dependencies: HashMap<_, _> = declared
        .iter()
        .filter_map(|resource| {
            let id = graph.id(&Vertex::Resource(resource.clone()))?;
            Some((resource.clone(), Arc::from(direct_resources(&graph, id))))
        })
        .collect();
    let create_before_destroy = create_before_destroy(context, &graph, &declared);
    let data_depends_on = data_depends_on(context, &mut graph, &declared);
    let mut plan_graph = PlanGraph {
        recorded,
        dependencies,
        create_before_destroy,
        data_depends_on,
        targeting: Targeting::default(),
    };
    if !targets.is_empty() {
        let (targeting, keep) = Targeting::select(targets, &graph, mode, previous);
        plan_graph.targeting = targeting;
        return (plan_graph, graph.retain(&keep));
    }
    let graph = match destroying && context.operation == Operation::Plan {
        true => {
            let deleting = resources.into_iter().filter(|id| match graph.vertex(*id) {
                // A data source leaves nothing to delete; it is read where a provider needs it.
                Vertex::Resource(r) => r.resource.mode == ResourceMode::Managed,
                _ => false,
            });
            // Root variables are checked in every mode, as a person who destroys expects.
            let variables = graph.ids().filter(
                |id| matches!(graph.vertex(*id), Vertex::Variable(path, _) if path.is_root()),
            );
            let keep = graph.reachable(deleting.chain(variables).collect::<Vec<_>>());
            graph.retain(&keep)
        }
        false => graph,
    };
    (plan_graph, graph)
}

fn create_before_destroy(
    context: &EvalContext,
    graph: &Graph<Vertex>,
    declared: &[ConfigResource],
) -> HashSet<ConfigResource> {
    let asked = declared.iter().filter(|resource| {
        let block = context.configuration.resource(resource);
        block.is_some_and(|b| b.lifecycle.create_before_destroy == Some(true))
    });
    let asked: Vec<VertexId> =
        asked.filter_map(|r| graph.id(&Vertex::Resource(r.clone()))).collect();
    let reached = graph.reachable(asked);
    graph
        .ids()
        .zip(reached)
        .filter(|(_, reached)| *reached)
        .filter_map(|(id, _)| match graph.vertex(id) {
            Vertex::Resource(r) if r.resource.mode == ResourceMode::Managed => Some(r.clone()),
            _ => None,
        })
        .collect()
}

fn data_depends_on(
    context: &EvalContext,
    graph: &mut Graph<Vertex>,
    declared: &[ConfigResource],
) -> HashMap<ConfigResource, BTreeSet<ConfigResource>> {
    let configuration = &*context.configuration;
    let mut found = HashMap::default();
    for resource in declared.iter().filter(|r| r.resource.mode == ResourceMode::Data) {
        let Some(node) = configuration.get(&resource.module) else { continue };
        let Some(block) = node.module.resources.get(&resource.resource) else { continue };
        let edges = ConfigurationEdges { configuration, graph };
        let (mut direct, mut through) = (BTreeSet::new(), Vec::new());
        let mut depends = |node: &ModuleNode, depends: &[Arc<Traversal>]| {
            for named in depends {
                match Reference::parse(named).map(|reference| reference.subject) {
                    Ok(Subject::Resource(on)) => {
                        direct.insert(on.in_module(&node.path));
                    }
                    _ => through.extend(edges.depended(node, std::slice::from_ref(named))),
                }
            }
        };
        depends(node, &block.depends_on);
        for (caller, named) in edges.module_depends_on(&resource.module) {
            depends(&caller, &named);
        }
        // What it is read by may be known while what it names is not made yet.
        direct.extend(references_of_block(block).iter().filter_map(|reference| {
            match &reference.subject {
                Subject::Resource(on) => Some(on.in_module(&node.path)),
                _ => None,
            }
        }));
        let lifecycle = &block.lifecycle;
        if !(lifecycle.preconditions.is_empty() && lifecycle.postconditions.is_empty()) {
            // A change of anything behind it may make a condition hold.
            through.push(Vertex::Resource(resource.clone()));
        }
        let ids: Vec<VertexId> = through.iter().filter_map(|v| graph.id(v)).collect();
        let reached = graph.reachable(ids);
        let reached = graph.ids().zip(reached).filter(|(_, reached)| *reached);
        let reached = reached.filter_map(|(id, _)| match graph.vertex(id) {
            Vertex::Resource(r) => Some(r.clone()),
            _ => None,
        });
        direct.extend(reached);
        direct.retain(|r| r.resource.mode == ResourceMode::Managed);
        if !direct.is_empty() {
            found.insert(resource.clone(), direct);
        }
    }
    found
}

/// Whether vertices wait for each other, so that the graph cannot be walked; reported.
pub(crate) fn has_cycles(context: &EvalContext, graph: &Graph<Vertex>) -> bool {
    let errors = graph.cycles().into_iter().map(|cycle| match cycle.as_slice() {
        [own] => refers_to_itself(&context.configuration, graph.vertex(*own)),
        cycle => {
            let names: Vec<String> = cycle.iter().map(|id| graph.vertex(*id).to_string()).collect();
            Diagnostic::error(format!("Cycle: {}", names.join(", ")), "")
        }
    });
    context.report(errors.collect::<Vec<_>>())
}

fn refers_to_itself(configuration: &Configuration, own: &Vertex) -> Diagnostic {
    let (error, references, subject) = match own {
        Vertex::Local(module, name) => {
            let detail = format!(
                "Local value local.{name} cannot use its own result as part of its expression."
            );
            let local = configuration.get(module).and_then(|node| node.module.locals.get(name));
            let references = local.map(|local| references_in(&local.expression));
            let references = references.into_iter().flatten().flatten().collect();
            let error = Diagnostic::error("Self-referencing local value", detail);
            (error, references, Some(Subject::Local(name.clone())))
        }
        own => {
            let detail = format!("Configuration for {own} may not refer to itself.");
            let error = Diagnostic::error("Self-referential block", detail);
            match own {
                Vertex::Resource(resource) => {
                    let block = configuration.resource(resource);
                    let references = block.map(references_of_block).unwrap_or_default();
                    (error, references, Some(Subject::Resource(resource.resource.clone())))
                }
                _ => (error, Vec::new(), None),
            }
        }
    };
    let reference =
        references.iter().find(|reference| Some(&reference.subject) == subject.as_ref());
    match reference {
        Some(reference) => error.at(reference.span),
        None => error,
    }
}

fn references_of_block(block: &ResourceBlock) -> Vec<Reference> {
    let repeats = block.count().into_iter().chain(block.for_each());
    let lifecycle = &block.lifecycle;
    let rules = lifecycle.preconditions.iter().chain(&lifecycle.postconditions);
    let conditions = rules.flat_map(|rule| [&rule.condition, &rule.error_message]);
    let expressions = repeats.chain(&lifecycle.replace_triggered_by).chain(conditions);
    let references = expressions.flat_map(references_in).flatten();
    references.chain(references_in_body(&block.config)).collect()
}
