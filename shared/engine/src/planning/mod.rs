//! Planning: what the world is, what the configuration wants, and what must change.

mod data;
mod deletion;
mod generated;
mod generated_text;
mod graph;
mod ignored;
mod import;
mod managed;
mod outcome;
mod read_set;
mod refresh;
mod removal;
mod replace_triggers;
mod resource;
mod targeting;
mod type_change;
mod world;

pub(crate) use data::{read as read_data_source, unread};
pub use generated::GeneratedResource;
pub(crate) use generated::generate;
pub(crate) use graph::has_cycles;
pub use ignored::ignored_paths;
pub(crate) use import::without_configuration as imported_but_not_declared;
pub use targeting::Target;
pub(crate) use world::{read_world, with_providers};

use crate::changes::{Action, Changes, OutputChange};
use crate::ephemeral;
use crate::evaluation::{
    EvalContext, Named, Operation, blocking, check, named_values, planned_checks,
};
use crate::graph::{Graph, Walked, walk};
use crate::moving::{Moves, moved_state};
use crate::plan::{Plan, PlanMode, RefreshedInstance, Schemas, Seen};
use crate::reads::Reads;
use crate::state::State;
use crate::vertex::Vertex;
use graph::PlanGraph;
use language::diagnostics::{Diagnostic, Diagnostics};
pub(crate) use outcome::Outcome;
pub(crate) use read_set::is_change;
pub(crate) use removal::Forgotten;
pub(crate) use removal::still_declared as removed_but_declared;
pub(crate) use removal::subject as removed_subject;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ModuleInstance, ModulePath, ResourceInstance};
use values::{Type, Value};

/// How to plan.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// What kind of plan.
    pub mode: PlanMode,
    /// Whether to read the world first; without, the records are believed.
    pub refresh: bool,
    /// Instances to be replaced whether or not their provider would.
    pub replace: Vec<ResourceInstance>,
    /// What alone is planned, with what it depends on; empty for everything.
    pub targets: Vec<Target>,
    /// Objects that instances take over, as import blocks say it, by the identifiers that their providers know them by.
    pub imports: BTreeMap<ResourceInstance, Arc<str>>,
}

impl PlanOptions {
    /// What is wrong with options together.
    pub(crate) fn contradiction(&self) -> Option<Diagnostic> {
        // Other modes plan neither no-ops nor updates, which alone can become replacements.
        (self.mode != PlanMode::Normal && !self.replace.is_empty()).then(|| {
            Diagnostic::error(
                "Unsupported plan mode",
                "Forcing resource instance replacement (with -replace=...) is allowed only in normal planning mode.",
            )
        })
    }
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            mode: PlanMode::Normal,
            refresh: true,
            replace: Vec::new(),
            targets: Vec::new(),
            imports: BTreeMap::new(),
        }
    }
}

/// One planning walk.
pub(crate) struct PlanWalk {
    pub(crate) context: Arc<EvalContext>,
    pub(crate) options: PlanOptions,
    /// The records, with moves made.
    pub(crate) prior: Arc<State>,
    pub(crate) moves: Moves,
    pub(crate) forgotten: Forgotten,
    pub(crate) plan_graph: PlanGraph,
    pub(crate) outcome: Outcome,
    pub(crate) rehearsed: Rehearsed,
}

/// What the normal plan that precedes a destroy plan found. Terraform shows the outputs of that plan as
/// what is destroyed.
#[derive(Default)]
pub(crate) struct Rehearsed {
    /// What was read from the world, which need not be read again.
    pub(crate) refreshed: BTreeMap<ResourceInstance, RefreshedInstance>,
    /// Root outputs whose values are known; null where there is none to be destroyed.
    outputs: BTreeMap<Arc<str>, Value>,
}

/// Plans as if nothing were to be destroyed. Its mistakes are nobody's concern: what is about to go need
/// not be right any more, and what matters is found again.
pub(crate) async fn rehearse(
    context: EvalContext,
    options: PlanOptions,
    previous: Arc<State>,
) -> Rehearsed {
    let options = PlanOptions { mode: PlanMode::Normal, ..options };
    let (plan, _) = plan(context, options, previous, Rehearsed::default()).await;
    // What is not configured any more is as it is recorded.
    let configured =
        plan.changes.outputs.into_iter().filter(|(_, change)| change.action != Action::Delete);
    let outputs = configured.map(|(name, change)| (name, change.after));
    let outputs = outputs.filter(|(_, value)| value.is_wholly_known()).collect();
    Rehearsed { refreshed: plan.refreshed, outputs }
}

/// Makes a plan. Diagnostics are in the context; after errors the plan is incomplete and shows what
/// could be planned.
pub(crate) async fn plan(
    context: EvalContext,
    options: PlanOptions,
    previous: Arc<State>,
    rehearsed: Rehearsed,
) -> (Plan, Diagnostics) {
    let started = context.plan_timestamp.unwrap_or_else(|| context.environment.clock.now());
    let variables =
        context.variables.iter().map(|(name, v)| (name.clone(), v.value.clone())).collect();
    let mode = options.mode;
    let close = ephemeral::close_after_use;
    let Planning { walk: walk_state, mut errored } =
        walked(context, options, previous.clone(), rehearsed, close).await;
    let targeted = !walk_state.options.targets.is_empty();
    let prior = walk_state.prior.clone();
    let context = &walk_state.context;
    let outputs = match errored {
        true => BTreeMap::new(),
        false => output_changes(&walk_state),
    };
    context.environment.hook(|hook| hook.outputs(&outputs));
    let mut diagnostics = context.take_diagnostics();
    if !errored && !walk_state.validating() {
        diagnostics = with_moves(&walk_state, diagnostics);
    }
    errored |= diagnostics.has_errors();
    let found = walk_state.outcome.take();
    if !errored {
        diagnostics.extend(removal::warning(&found.changes));
    }
    let reads = match errored {
        true => Reads::default(),
        false => read_set::reads(&walk_state, &found.changes),
    };
    let plan = Plan {
        mode,
        timestamp: started.as_second(),
        variables,
        changes: Changes { resources: found.changes, outputs },
        drift: found.drift,
        imports: found.imports,
        checks: planned_checks(context, mode),
        reads,
        previous,
        targeted,
        moves: walk_state.moves.instances.clone(),
        prior,
        refreshed: found.refreshed,
        schemas: Schemas(found.schemas),
        complete: !errored && !context.stop.is_stopping(),
    };
    (plan, diagnostics)
}

/// A walk that has come to its end.
struct Planning {
    walk: Arc<PlanWalk>,
    /// Whether it could not be made as a whole.
    errored: bool,
}

/// Walks through the configuration: afterwards all that is named has its value. Diagnostics are in the context. `close`
/// adds to the graph what closes what is opened, where the caller has no more use for it.
async fn walked(
    mut context: EvalContext,
    options: PlanOptions,
    previous: Arc<State>,
    rehearsed: Rehearsed,
    close: impl FnOnce(&mut Graph<Vertex>),
) -> Planning {
    let mode = options.mode;
    let moves = match context.operation {
        Operation::Validate => Moves::default(),
        _ => Moves::find(&context.configuration, &previous),
    };
    let forgotten = Forgotten::find(&context.configuration);
    let prior = moved_state(&previous, &moves.instances);
    context.conditions_warn = mode == PlanMode::RefreshOnly;
    let (plan_graph, mut graph) = graph::build(&context, mode, &options.targets, &prior);
    let walk_state = Arc::new(PlanWalk {
        context: Arc::new(context),
        options,
        prior,
        moves,
        forgotten,
        plan_graph,
        outcome: Outcome::default(),
        rehearsed,
    });
    let targets = &walk_state.options.targets;
    if !targets.is_empty() {
        walk_state.context.report([targeting::warning()]);
    }
    let excluded = targeting::moves_excluded(targets, &walk_state.moves.instances);
    let errored = walk_state.context.report(excluded) || has_cycles(&walk_state.context, &graph);
    if !errored {
        close(&mut graph);
        walk(
            &graph,
            &walk_state,
            walk_state.context.environment.parallelism,
            visit,
            Vertex::is_always_visited,
        )
        .await;
    }
    Planning { walk: walk_state, errored }
}

/// Adds what is wrong with moves. Such mistakes stand alone, since they may be the cause of others.
fn with_moves(walk: &PlanWalk, mut diagnostics: Diagnostics) -> Diagnostics {
    let found = walk.moves.validate(&walk.context);
    if found.has_errors() {
        return found;
    }
    diagnostics.extend(found);
    if !diagnostics.has_errors() {
        diagnostics.extend(walk.moves.blocked());
    }
    diagnostics
}

async fn visit(walk: Arc<PlanWalk>, vertex: Vertex) -> Walked {
    match vertex {
        Vertex::Close(resource) => ephemeral::close(&walk.context, &resource).await,
        _ if walk.context.stop.is_stopping() => Walked::Failed,
        // The largest by far, so that the others need not have room for it.
        Vertex::Resource(resource) => Box::pin(resource::visit(walk, resource)).await,
        Vertex::Provider(address) => named_values::provider(&walk.context, &address).await,
        vertex => evaluate(walk, vertex).await,
    }
}

/// Vertices that only evaluate.
async fn evaluate(walk: Arc<PlanWalk>, vertex: Vertex) -> Walked {
    blocking(move || named_value(&walk.context, &vertex)).await
}

/// The vertices that are the same in every walk.
pub(crate) fn named_value(context: &EvalContext, vertex: &Vertex) -> Walked {
    match vertex {
        Vertex::Variable(path, name) => named_values::variable(context, path, name),
        Vertex::Local(path, name) => named_values::local(context, path, name),
        Vertex::Output(path, name) => named_values::output(context, path, name),
        Vertex::Module(path) => named_values::module(context, path),
        Vertex::Check(path, name) => check(context, path, name),
        _ => Walked::Done,
    }
}

fn output_changes(walk: &PlanWalk) -> BTreeMap<Arc<str>, OutputChange> {
    let root = &walk.context.configuration.root.module;
    let mut changes = BTreeMap::new();
    let destroying = walk.options.mode == PlanMode::Destroy;
    for (name, output) in &root.outputs {
        let before = walk.prior.outputs.get(name).map(|o| o.value.clone());
        if destroying {
            continue;
        }
        let module = ModuleInstance::root();
        let Some(after) = walk.context.working.named(&module, Named::Output(name.clone())) else {
            continue;
        };
        let sensitive =
            output.sensitive || before.as_ref().is_some_and(|b| b.deep_marks().is_sensitive());
        changes.insert(name.clone(), output_change(before, after, sensitive));
    }
    // What is not planned is not deleted.
    let recorded = walk.prior.outputs.iter().filter(|_| walk.options.targets.is_empty());
    for (name, old) in recorded {
        if destroying || !root.outputs.contains_key(name) {
            let before = walk.rehearsed.outputs.get(name).unwrap_or(&old.value);
            if before.is_null() && destroying {
                continue;
            }
            changes.insert(
                name.clone(),
                OutputChange {
                    action: Action::Delete,
                    sensitive: before.deep_marks().is_sensitive(),
                    before: before.clone(),
                    after: Value::null(Type::Dynamic),
                },
            );
        }
    }
    changes
}

fn output_change(before: Option<Value>, after: Value, sensitive: bool) -> OutputChange {
    let action = match &before {
        // What is null is not recorded.
        None if after.is_null() => Action::NoOp,
        None => Action::Create,
        Some(before) if after.is_null() && before.is_null() => Action::NoOp,
        Some(before) => {
            let same = before.unmark_deep() == after.unmark_deep();
            let marks = before.deep_marks().is_sensitive() == after.deep_marks().is_sensitive();
            if same && marks { Action::NoOp } else { Action::Update }
        }
    };
    let after = match after.is_null() {
        true => Value::null(Type::Dynamic).with_marks(after.marks()),
        false => after,
    };
    let before = before.unwrap_or_else(|| Value::null(Type::Dynamic));
    OutputChange { action, before, after, sensitive }
}

impl PlanWalk {
    /// Reports a mistake in the configuration of one instance.
    pub(crate) fn fail(&self, address: &ResourceInstance, diagnostic: Diagnostic) {
        self.context.report([diagnostic.for_address(address.to_string())]);
    }

    /// The address under which an instance is recorded, where that is another one.
    pub(crate) fn origin(&self, address: &ResourceInstance) -> Option<ResourceInstance> {
        self.moves.origin(address).cloned()
    }

    /// Where objects come from that this walk has refreshed.
    pub(crate) fn seen(&self) -> Seen {
        match self.options.refresh {
            true => Seen::InTheWorld,
            false => Seen::Recorded,
        }
    }

    pub(crate) fn validating(&self) -> bool {
        self.context.operation == Operation::Validate
    }

    pub(crate) fn modules(&self, path: &ModulePath) -> Arc<Vec<ModuleInstance>> {
        self.context.working.module_instances(path)
    }
}
