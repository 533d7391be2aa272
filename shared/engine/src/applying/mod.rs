//! Applying a plan: each change is made and recorded, in the order of the graph.

mod change;
mod commit;
mod deletion;
mod graph;
mod instance_records;
mod resource;

use crate::changes::{Action, ResourceInstanceChange, Summary};
use crate::evaluation::{EvalContext, named_values};
use crate::graph::{Walked, walk};
use crate::object::DeposedKey;
use crate::plan::Plan;
use crate::planning::{blocking, cycle_error, named_value};
use crate::recorder::Recorder;
use crate::vertex::Vertex;
use instance_records::InstanceRecords;
use language::diagnostics::Diagnostics;
use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// Whether everything was done.
    pub complete: bool,
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
    summary: Mutex<Summary>,
}

impl ApplyWalk {
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
    let walk_state = Arc::new(ApplyWalk {
        context,
        plan,
        recorder,
        records,
        changes,
        changed,
        instances,
        deposed,
        summary: Mutex::default(),
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
    let outputs = commit::commit(&walk_state).await;
    let diagnostics = walk_state.context.take_diagnostics();
    let summary = *walk_state.summary.lock().unwrap_or_else(PoisonError::into_inner);
    let complete = !diagnostics.has_errors() && !walk_state.context.stop.is_stopping();
    (Applied { summary, outputs, complete }, diagnostics)
}

async fn visit(walk: Arc<ApplyWalk>, vertex: Vertex) -> Walked {
    match vertex {
        Vertex::Changed(_) | Vertex::Destroyed(..) => Walked::Done,
        _ if walk.context.stop.is_stopping() => Walked::Failed,
        Vertex::Provider(address) => named_values::provider(&walk.context, &address).await,
        Vertex::Expansion(resource) => resource::expand(walk, resource).await,
        Vertex::Resource(resource) => resource::finish(&walk, &resource),
        Vertex::Change(address) => change::visit(walk, address).await,
        Vertex::Destroy(address, deposed) => deletion::visit(walk, address, deposed).await,
        vertex => blocking(move || named_value(&walk.context, &vertex)).await,
    }
}
