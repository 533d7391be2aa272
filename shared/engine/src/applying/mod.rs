//! Applying a plan: each change is made and recorded, in the order of the graph.

mod change;
mod commit;
mod deletion;
mod graph;
mod instance_records;
mod relocation;
mod resource;

use crate::changes::{Action, ResourceInstanceChange, Summary};
use crate::checks::CheckResults;
use crate::evaluation::{EvalContext, named_values};
use crate::graph::{Walked, walk};
use crate::object::DeposedKey;
use crate::plan::Plan;
use crate::planning::{blocking, cycle_error, named_value};
use crate::recorder::Recorder;
use crate::stop::StopCause;
use crate::vertex::Vertex;
use instance_records::InstanceRecords;
use language::diagnostics::{Diagnostic, Diagnostics};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use values::Value;
use values::address::{ConfigResource, ResourceInstance};

/// What an apply came to.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// Objects created, changed and destroyed.
    pub summary: Summary,
    /// Root outputs as they are now; `None` where they could not be evaluated.
    pub outputs: Option<BTreeMap<Arc<str>, Value>>,
    /// What the check blocks came to.
    pub checks: CheckResults,
    /// How it ended.
    pub ending: Ending,
}

/// How an apply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// All that could be done was: what failed was reported, and what depends on it was left.
    Done,
    /// A person stopped it. What was not begun is left.
    #[default]
    Interrupted,
    /// Its time was up. What was not begun, or was stopped on the way, is for another call.
    Continue,
}

impl Applied {
    /// Time was up before anything could be told.
    pub(crate) fn continued() -> Applied {
        Applied { ending: Ending::Continue, ..Applied::default() }
    }
}

/// One apply.
pub(crate) struct ApplyWalk {
    pub(crate) context: EvalContext,
    pub(crate) plan: Arc<Plan>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) records: InstanceRecords,
    /// Where the changes stand in the plan.
    changes: HashMap<(ResourceInstance, Option<DeposedKey>), usize>,
    /// Resources of which something changes.
    changed: BTreeSet<ConfigResource>,
    instances: HashMap<ConfigResource, Vec<ResourceInstance>>,
    deposed: HashMap<ResourceInstance, DeposedKey>,
    /// Instances whose records are not where the plan wants them, since moving or importing failed.
    unmoved: BTreeSet<ResourceInstance>,
    summary: Mutex<Summary>,
    /// Whether something was not begun, or not finished, because somebody asked to stop.
    left: AtomicBool,
}

impl ApplyWalk {
    /// Whether something new may begin; that it may not is remembered.
    pub(crate) fn may_begin(&self) -> bool {
        let stopping = self.context.stop.is_stopping();
        if stopping {
            self.leave();
        }
        !stopping
    }
    /// Remembers that something is left to do.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::SeqCst);
    }
    /// The planned change of an instance's current object.
    pub(crate) fn change(&self, address: &ResourceInstance) -> Option<&ResourceInstanceChange> {
        self.change_of(address, None)
    }
    /// The planned change of the current or a deposed object.
    pub(crate) fn change_of(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
    ) -> Option<&ResourceInstanceChange> {
        let index = self.changes.get(&(address.clone(), deposed.cloned()))?;
        self.plan.changes.resources.get(*index)
    }
    /// The key under which a replaced object waits for its deletion.
    pub(crate) fn deposed_key(&self, address: &ResourceInstance) -> Option<&DeposedKey> {
        self.deposed.get(address)
    }
    pub(crate) fn is_changed(&self, resource: &ConfigResource) -> bool {
        self.changed.contains(resource)
    }
    /// The planned instances of a resource.
    pub(crate) fn instances(&self, resource: &ConfigResource) -> &[ResourceInstance] {
        self.instances.get(resource).map_or(&[], Vec::as_slice)
    }
    pub(crate) fn is_unmoved(&self, address: &ResourceInstance) -> bool {
        self.unmoved.contains(address)
    }
    pub(crate) fn count(&self, count: impl FnOnce(&mut Summary)) {
        count(&mut self.summary.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Applies a plan. What was done is recorded as it is done, whatever fails afterwards.
pub(crate) async fn apply(
    context: EvalContext,
    plan: Arc<Plan>,
    recorder: Arc<dyn Recorder>,
) -> (Applied, Diagnostics) {
    let graph::ApplyGraph { graph, deposed } = graph::build(&context, &plan);
    let mut changes = HashMap::new();
    let mut changed = BTreeSet::new();
    let mut instances = HashMap::<ConfigResource, Vec<ResourceInstance>>::new();
    for (index, change) in plan.changes.resources.iter().enumerate() {
        changes.insert((change.address.clone(), change.deposed.clone()), index);
        if change.deposed.is_some() {
            continue;
        }
        let resource = change.address.config();
        if !matches!(change.action, Action::NoOp | Action::Delete | Action::Forget) {
            changed.insert(resource.clone());
        }
        instances.entry(resource).or_default().push(change.address.clone());
    }
    for address in plan.refreshed.keys() {
        if !changes.contains_key(&(address.clone(), None)) {
            instances.entry(address.config()).or_default().push(address.clone());
        }
    }
    let records = InstanceRecords::new(plan.clone());
    let mut unmoved = relocation::record_moves(&context, &plan, &*recorder, &records).await;
    let unimported = relocation::record_imports(&context, &plan, &*recorder, &records).await;
    let import = plan.imports.len() - unimported.len();
    unmoved.extend(unimported);
    let walk_state = Arc::new(ApplyWalk {
        context,
        plan,
        recorder,
        records,
        changes,
        changed,
        instances,
        deposed,
        unmoved,
        summary: Mutex::new(Summary { import, ..Summary::default() }),
        left: AtomicBool::new(false),
    });
    let cycles = graph.cycles();
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
        walk_state.context.report(cycles.iter().map(|cycle| cycle_error(&graph, cycle)));
    }
    let left = walk_state.left.load(Ordering::SeqCst);
    let ending = match walk_state.context.stop.cause().filter(|_| left) {
        None => Ending::Done,
        Some(StopCause::Interrupt) => Ending::Interrupted,
        Some(StopCause::Deadline) => Ending::Continue,
    };
    let outputs = match ending {
        Ending::Continue => None,
        Ending::Done | Ending::Interrupted => commit::commit(&walk_state, ending).await,
    };
    let mut diagnostics = walk_state.context.take_diagnostics();
    if walk_state.plan.targeted {
        diagnostics.push(incomplete());
    }
    let summary = *walk_state.summary.lock().unwrap_or_else(PoisonError::into_inner);
    let checks = walk_state.context.checks.take();
    (Applied { summary, outputs, checks, ending }, diagnostics)
}

/// That more may be left to do.
fn incomplete() -> Diagnostic {
    Diagnostic::warning(
        "Applied changes may be incomplete",
        "The plan was created with the -target option in effect, so some changes requested in the configuration may have been ignored and the output values may not be fully updated. Run the following command to verify that no other changes are pending:\n    plumb plan\n\nNote that the -target option is not suitable for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes, or when Plumbline specifically suggests to use it as part of an error message.",
    )
}

async fn visit(walk: Arc<ApplyWalk>, vertex: Vertex) -> Walked {
    match vertex {
        Vertex::Changed(_) | Vertex::Destroyed(..) | Vertex::Settled => Walked::Done,
        _ if !walk.may_begin() => Walked::Failed,
        Vertex::Change(address) | Vertex::Destroy(address, _) if walk.is_unmoved(&address) => {
            Walked::Failed
        }
        Vertex::Provider(address) => named_values::provider(&walk.context, &address).await,
        Vertex::Expansion(resource) => resource::expand(walk, resource).await,
        Vertex::Resource(resource) => resource::finish(&walk, &resource),
        Vertex::Change(address) => change::visit(walk, address).await,
        Vertex::Destroy(address, deposed) => deletion::visit(walk, address, deposed).await,
        vertex => blocking(move || named_value(&walk.context, &vertex)).await,
    }
}
