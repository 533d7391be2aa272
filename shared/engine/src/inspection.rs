//! Expressions in the root module, against what is recorded or what a plan makes of it: the console, and
//! assertions of tests.

mod assertions;

pub use assertions::TestNames;

use crate::changes::Action;
use crate::evaluation::{EvalContext, RepetitionData, blocking, evaluate_expansion};
use crate::graph::{Graph, Walked, walk};
use crate::hashing::HashSet;
use crate::object_codec::{decode, resource_schema};
use crate::plan::Plan;
use crate::planning::{has_cycles, named_value};
use crate::state::State;
use crate::vertex::{ConfigurationEdges, Vertex, direct_resources};
use language::diagnostics::Diagnostics;
use language::evaluate::ConsoleResult;
use language::module::Configuration;
use language::syntax::parse_expression;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::Value;
use values::address::{
    ConfigResource, ModuleInstance, ModulePath, ProviderConfigAddress, ResourceInstance,
};

/// The name that diagnostics give to what was typed.
const INPUT: &str = "<console-input>";

/// What expressions see of resources.
#[derive(Clone, Debug)]
pub enum Basis {
    /// What the records say.
    Recorded(Arc<State>),
    /// What a plan says will be.
    Planned(Arc<Plan>),
}

/// All named values of a configuration, evaluated, and resources as they are.
pub struct Inspection {
    context: Arc<EvalContext>,
}

impl Inspection {
    pub(crate) async fn begin(context: EvalContext, basis: Basis) -> (Inspection, Diagnostics) {
        let configuration = context.configuration.clone();
        start_providers(&context).await;
        let values = match &basis {
            Basis::Recorded(state) => recorded(&context, state).await,
            Basis::Planned(plan) => planned(plan),
        };
        for (address, value) in &values {
            context.working.set_instance(address, value.clone());
        }
        context.working.finish_instances(values.keys());
        let mut graph = Graph::new();
        let mut edges = ConfigurationEdges { configuration: &configuration, graph: &mut graph };
        edges.add_named_values();
        add_expansions(&mut edges);
        let context = Arc::new(context);
        if !has_cycles(&context, &graph) {
            let visit =
                |context: Arc<EvalContext>, vertex| blocking(move || visit(&context, &vertex));
            walk(&graph, &context, context.environment.parallelism, visit, |_| false).await;
        }
        let diagnostics = context.take_diagnostics();
        (Inspection { context }, diagnostics)
    }

    /// What the console says of a text; nothing after an error, which is among the diagnostics.
    pub fn console(&self, text: &str) -> (Option<ConsoleResult>, Diagnostics) {
        let sources = &self.context.configuration.sources;
        let file = sources.add(INPUT, text.as_bytes());
        let (expression, mut diagnostics) = parse_expression(sources, file, text.as_bytes(), 0);
        if diagnostics.has_errors() {
            return (None, diagnostics);
        }
        let data = RepetitionData::default();
        let root = ModuleInstance::root();
        let result = self.context.evaluate(&root, &data, None, |e| e.console(&expression));
        diagnostics.extend(self.context.take_diagnostics());
        (result.flatten(), diagnostics)
    }

    /// Ends the providers. Nothing more can be asked.
    pub async fn close(self) {
        self.context.pool.close().await;
    }
}

/// Providers know the types of resources; none is configured.
async fn start_providers(context: &EvalContext) {
    let declared = declared_resources(&context.configuration);
    let providers: BTreeSet<_> = declared
        .iter()
        .filter_map(|resource| context.configuration.provider_for(resource))
        .map(|address| address.provider)
        .collect();
    for provider in providers {
        if let Err(diagnostics) = context.pool.start(&unconfigured(provider)).await {
            context.report(diagnostics);
        }
    }
}

fn unconfigured(provider: values::address::ProviderAddress) -> ProviderConfigAddress {
    ProviderConfigAddress { module: ModulePath::root(), provider, alias: None }
}

fn declared_resources(configuration: &Configuration) -> Vec<ConfigResource> {
    let nodes = configuration.modules();
    nodes.flat_map(|node| node.module.resources.keys().map(|r| r.in_module(&node.path))).collect()
}

/// The recorded objects. What is not declared any more is seen by nobody.
async fn recorded(context: &EvalContext, state: &State) -> BTreeMap<ResourceInstance, Value> {
    let mut values = BTreeMap::new();
    for (address, instance) in &state.instances {
        let Some(stored) = &instance.current else { continue };
        let Some(provider) = context.configuration.provider_for(&address.config()) else {
            continue;
        };
        let running = context.pool.running(&unconfigured(provider.provider.clone()));
        let (Some(running), Some(schemas)) = (running, context.pool.schema(&provider.provider))
        else {
            continue;
        };
        let (mode, ty) = (address.resource.mode, &address.resource.ty);
        let Some(schema) = resource_schema(&schemas, mode, ty) else { continue };
        match decode(&*running, schema, address, stored).await {
            Ok((object, warnings)) => {
                context.report(warnings);
                values.insert(address.clone(), object.value);
            }
            Err(errors) => {
                context.report(errors);
            }
        }
    }
    values
}

fn planned(plan: &Plan) -> BTreeMap<ResourceInstance, Value> {
    let refreshed = plan.refreshed.iter().filter_map(|(address, instance)| {
        Some((address.clone(), instance.current.as_ref()?.value.clone()))
    });
    let mut values: BTreeMap<_, _> = refreshed.collect();
    for change in plan.changes.resources.iter().filter(|change| change.deposed.is_none()) {
        match change.action {
            Action::Delete | Action::Forget => values.remove(&change.address),
            _ => values.insert(change.address.clone(), change.after.clone()),
        };
    }
    values
}

/// Resources wait for what says how many there are.
fn add_expansions(edges: &mut ConfigurationEdges<'_>) {
    for resource in declared_resources(edges.configuration) {
        let Some(node) = edges.configuration.get(&resource.module).cloned() else { continue };
        let id = edges.graph.add(Vertex::Resource(resource.clone()));
        let own = edges.module_vertex(&node.path);
        edges.after(id, own);
        let Some(block) = node.module.resources.get(&resource.resource) else { continue };
        for expression in block.count().into_iter().chain(block.for_each()) {
            edges.refer(id, &node, expression);
        }
    }
}

fn visit(context: &EvalContext, vertex: &Vertex) -> Walked {
    match vertex {
        Vertex::Resource(resource) => expand(context, resource),
        // Nobody asked whether all is well.
        Vertex::Check(..) => Walked::Done,
        vertex => named_value(context, vertex),
    }
}

/// A resource that has no instances, as its configuration says, is known to have none.
fn expand(context: &EvalContext, resource: &ConfigResource) -> Walked {
    let block = context.configuration.resource(resource);
    let Some(block) = block.filter(|b| b.count().is_some() || b.for_each().is_some()) else {
        return Walked::Done;
    };
    for module in context.working.module_instances(&resource.module).iter() {
        let absolute = resource.resource.absolute(module);
        if context.working.expansion(&absolute).is_some() {
            continue;
        }
        let data = RepetitionData::default();
        let expansion = context
            .evaluate(module, &data, None, |e| evaluate_expansion(e, &block.repetition, true))
            .flatten();
        if let Some(expansion) = expansion.filter(|expansion| expansion.keys().is_empty()) {
            context.working.set_expansion(absolute.clone(), expansion);
            context.working.finish_resource(&absolute);
        }
    }
    Walked::Done
}

/// Each resource of a configuration, and the resources that it refers to: itself, or through variables, locals and
/// outputs. What another of them needs too is left out.
pub fn resource_dependencies(
    configuration: &Configuration,
) -> BTreeMap<ConfigResource, BTreeSet<ConfigResource>> {
    let mut graph = Graph::new();
    let mut edges = ConfigurationEdges { configuration, graph: &mut graph };
    edges.add_named_values();
    let declared = declared_resources(configuration);
    for resource in &declared {
        let id = edges.graph.add(Vertex::Resource(resource.clone()));
        edges.add_resource_edges(id, resource);
    }
    let of = |resource: ConfigResource| {
        let id = graph.id(&Vertex::Resource(resource.clone()))?;
        Some((resource, direct_resources(&graph, id).into_iter().collect()))
    };
    without_detours(declared.into_iter().filter_map(of).collect())
}

/// Leaves out what is reached through another dependency anyway.
fn without_detours(
    all: BTreeMap<ConfigResource, BTreeSet<ConfigResource>>,
) -> BTreeMap<ConfigResource, BTreeSet<ConfigResource>> {
    let reduced = |dependencies: &BTreeSet<ConfigResource>| {
        if dependencies.len() < 2 {
            return dependencies.clone();
        }
        let mut reached = HashSet::default();
        let mut pending: Vec<&ConfigResource> =
            dependencies.iter().filter_map(|direct| all.get(direct)).flatten().collect();
        while let Some(resource) = pending.pop() {
            if reached.insert(resource) {
                pending.extend(all.get(resource).into_iter().flatten());
            }
        }
        dependencies.iter().filter(|direct| !reached.contains(direct)).cloned().collect()
    };
    all.iter().map(|(resource, direct)| (resource.clone(), reduced(direct))).collect()
}
