//! Planning: what the world is, what the configuration wants, and what must change.

mod data;
mod deletion;
mod graph;
mod managed;
mod outcome;
mod refresh;
mod replace_triggers;
mod resource;
mod world;

pub(crate) use data::{ReadFailure, read as read_data_source};
pub(crate) use graph::cycle_error;
pub use managed::ignored_paths;
pub(crate) use resource::blocking;
pub(crate) use world::read_world;

use crate::changes::{Action, Changes, OutputChange};
use crate::evaluation::{EvalContext, Named, Operation, named_values};
use crate::graph::{Walked, walk};
use crate::plan::{Plan, PlanMode, Schemas};
use crate::state::State;
use crate::vertex::Vertex;
use graph::PlanGraph;
use language::diagnostics::{Diagnostic, Diagnostics};
pub(crate) use outcome::Outcome;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ModuleInstance, ModulePath, ResourceInstance};
use values::{Type, Value};

/// How to plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanOptions {
    /// What kind of plan.
    pub mode: PlanMode,
    /// Whether to read the world first; without, the records are believed.
    pub refresh: bool,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions { mode: PlanMode::Normal, refresh: true }
    }
}

/// One planning walk.
pub(crate) struct PlanWalk {
    pub(crate) context: EvalContext,
    pub(crate) options: PlanOptions,
    pub(crate) previous: Arc<State>,
    pub(crate) plan_graph: PlanGraph,
    pub(crate) outcome: Outcome,
}

/// Makes a plan. Diagnostics are in the context; after errors the plan is incomplete and shows what
/// could be planned.
pub(crate) async fn plan(
    context: EvalContext,
    options: PlanOptions,
    previous: Arc<State>,
) -> (Plan, Diagnostics) {
    let started = context.plan_timestamp.unwrap_or_else(|| context.environment.clock.now());
    let variables =
        context.variables.iter().map(|(name, v)| (name.clone(), v.value.clone())).collect();
    let (plan_graph, graph) = graph::build(&context, options.mode, &previous);
    let walk_state = Arc::new(PlanWalk {
        context,
        options,
        previous: previous.clone(),
        plan_graph,
        outcome: Outcome::default(),
    });
    let cycles = graph.cycles();
    let mut errored = !cycles.is_empty();
    if cycles.is_empty() {
        walk(
            &graph,
            |vertex| {
                let (walk_state, vertex) = (walk_state.clone(), vertex.clone());
                async move { visit(walk_state, vertex).await }
            },
            |_| {},
        )
        .await;
    } else {
        walk_state.context.report(cycles.iter().map(|cycle| graph::cycle_error(&graph, cycle)));
    }
    let context = &walk_state.context;
    let outputs = match errored {
        true => BTreeMap::new(),
        false => output_changes(&walk_state),
    };
    context.environment.hook(|hook| hook.outputs(&outputs));
    let diagnostics = context.take_diagnostics();
    errored |= diagnostics.has_errors();
    let found = walk_state.outcome.take();
    let plan = Plan {
        mode: options.mode,
        timestamp: started.as_second(),
        variables,
        changes: Changes { resources: found.changes, outputs },
        drift: found.drift,
        previous,
        refreshed: found.refreshed,
        schemas: Schemas(found.schemas),
        complete: !errored && !context.stop.is_stopping(),
    };
    (plan, diagnostics)
}

async fn visit(walk: Arc<PlanWalk>, vertex: Vertex) -> Walked {
    if walk.context.stop.is_stopping() {
        return Walked::Failed;
    }
    match vertex {
        Vertex::Resource(resource) => resource::visit(walk, resource).await,
        Vertex::Provider(address) => named_values::provider(&walk.context, &address).await,
        vertex => evaluate(walk, vertex).await,
    }
}

/// Vertices that only evaluate: off the runtime's threads, since an expression may take long.
async fn evaluate(walk: Arc<PlanWalk>, vertex: Vertex) -> Walked {
    let evaluated = tokio::task::spawn_blocking(move || named_value(&walk.context, &vertex)).await;
    match evaluated {
        Ok(walked) => walked,
        Err(e) => match e.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Walked::Failed,
        },
    }
}

/// The vertices that are the same in every walk.
pub(crate) fn named_value(context: &EvalContext, vertex: &Vertex) -> Walked {
    match vertex {
        Vertex::Variable(path, name) => named_values::variable(context, path, name),
        Vertex::Local(path, name) => named_values::local(context, path, name),
        Vertex::Output(path, name) => named_values::output(context, path, name),
        Vertex::Module(path) => named_values::module(context, path),
        _ => Walked::Done,
    }
}

fn output_changes(walk: &PlanWalk) -> BTreeMap<Arc<str>, OutputChange> {
    let root = &walk.context.configuration.root.module;
    let mut changes = BTreeMap::new();
    let destroying = walk.options.mode == PlanMode::Destroy;
    for (name, output) in &root.outputs {
        let before = walk.previous.outputs.get(name).map(|o| o.value.clone());
        if destroying {
            continue;
        }
        let module = ModuleInstance::root();
        let Some(after) = walk.context.working.named(&module, Named::Output(name.clone())) else {
            continue;
        };
        let sensitive =
            output.sensitive || before.as_ref().is_some_and(|b| b.deep_marks().is_sensitive());
        if let Some(change) = output_change(before, after, sensitive) {
            changes.insert(name.clone(), change);
        }
    }
    for (name, old) in &walk.previous.outputs {
        if destroying || !root.outputs.contains_key(name) {
            changes.insert(
                name.clone(),
                OutputChange {
                    action: Action::Delete,
                    sensitive: old.value.deep_marks().is_sensitive(),
                    before: old.value.clone(),
                    after: Value::null(Type::Dynamic),
                },
            );
        }
    }
    changes
}

/// `None` for an output that was never there and is null now.
fn output_change(before: Option<Value>, after: Value, sensitive: bool) -> Option<OutputChange> {
    let action = match &before {
        None if after.is_null() => return None,
        None => Action::Create,
        Some(before) if after.is_null() && before.is_null() => Action::NoOp,
        Some(before) => {
            let same = before.unmark_deep() == after.unmark_deep();
            let marks = before.deep_marks().is_sensitive() == after.deep_marks().is_sensitive();
            if same && marks { Action::NoOp } else { Action::Update }
        }
    };
    let before = before.unwrap_or_else(|| Value::null(Type::Dynamic));
    Some(OutputChange { action, before, after, sensitive })
}

impl PlanWalk {
    /// Reports a mistake in the configuration of one instance.
    pub(crate) fn fail(&self, address: &ResourceInstance, diagnostic: Diagnostic) {
        self.context.report([diagnostic.for_address(address.to_string())]);
    }

    pub(crate) fn validating(&self) -> bool {
        self.context.operation == Operation::Validate
    }

    pub(crate) fn modules(&self, path: &ModulePath) -> Arc<Vec<ModuleInstance>> {
        self.context.working.module_instances(path)
    }
}
