//! Applying a plan: each change is made and recorded, in the order of the graph.

mod answer;
mod change;
mod check_results;
mod commit;
mod deletion;
mod drift;
mod graph;
mod instance_records;
mod members;
mod outputs;
mod provisioning;
mod relocation;
mod request_token;
mod resource;
mod settling;
mod takeover;
mod target;
mod telling;

pub use takeover::ProviderSettler;
pub(crate) use takeover::{asked, settle, settled_without_asking};

use crate::changes::{Action, ResourceInstanceChange, Summary};
use crate::checks::CheckResults;
use crate::ephemeral;
use crate::evaluation::{EvalContext, blocking, named_values};
use crate::graph::{Walked, walk};
use crate::hashing::HashMap;
use crate::object::{DeposedKey, Object};
use crate::plan::{Plan, PlanMode};
use crate::planning::{has_cycles, named_value};
use crate::record::body::Claim;
use crate::recorder::{RecordError, Recorder, Step};
use crate::stages::Waiver;
use crate::stop::{Deadline, StopCause, StopLevel};
use crate::transaction::Progress;
use crate::unanswered::Unanswered;
use crate::vertex::Vertex;
use check_results::Unchecked;
use instance_records::{InstanceRecords, put, stored};
use language::diagnostics::{Diagnostic, Diagnostics};
use members::{Members, Part, Place};
use providers::TypedSchema;
use provisioning::RemovedProvisioners;
use relocation::Relocation;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use values::Value;
use values::address::{ConfigResource, ResourceInstance, ResourceMode};

/// What an apply came to.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// Objects created, changed and destroyed.
    pub summary: Summary,
    /// Root outputs as they are now; `None` where they could not be evaluated.
    pub outputs: Option<BTreeMap<Arc<str>, Value>>,
    /// What all conditions came to.
    pub checks: CheckResults,
    /// How it ended.
    pub ending: Ending,
}

/// On what terms a plan is applied.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// When the answer is due; what cannot be begun by then is left to another call.
    pub deadline: Option<Deadline>,
    /// How far earlier calls came with this plan; `None` in the first.
    pub resumed: Option<Progress>,
    /// How many of those have come no further, one after the other.
    pub progressless_attempts: u32,
    /// By attempt: before this, seconds since the epoch, a request of it may still reach its provider, and what it
    /// had in flight is not settled.
    pub settle_not_before: BTreeMap<u32, i64>,
    /// Instances of which an object may exist that no record describes.
    pub in_doubt: BTreeSet<ResourceInstance>,
    /// Differences of the world that a person accepts.
    pub waivers: Vec<Waiver>,
    /// How to wait for objects whose provider was stopped at them.
    pub patience: Patience,
}

/// How to wait for an object whose provider was stopped while it worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Between the first two reads.
    pub shortest_pause: Duration,
    /// Between two reads at most.
    pub longest_pause: Duration,
    /// An object that has not changed for so long is settled: what it lacks is asked for again.
    pub quiet: Duration,
    /// So many calls without any progress, each as long as `quiet` at least, and the object is in doubt.
    pub attempts: u32,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            shortest_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(10),
            quiet: Duration::from_secs(30),
            attempts: 5,
        }
    }
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
    pub(crate) context: Arc<EvalContext>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) records: InstanceRecords,
    /// Where the changes stand in the plan.
    changes: HashMap<(ResourceInstance, Option<DeposedKey>), usize>,
    /// Resources of which something changes.
    changed: BTreeSet<ConfigResource>,
    unchecked: Unchecked,
    instances: HashMap<ConfigResource, Vec<ResourceInstance>>,
    /// What runs when resources are destroyed that nothing declares any more.
    removed: RemovedProvisioners,
    deposed: HashMap<ResourceInstance, DeposedKey>,
    /// Instances whose records are not where the plan wants them, since moving or importing failed.
    unmoved: BTreeSet<ResourceInstance>,
    summary: Mutex<Summary>,
    /// How far earlier invocations came, and what remains.
    pub(crate) members: Members,
    pub(crate) waivers: Vec<Waiver>,
    pub(crate) patience: Patience,
    progressless_attempts: u32,
    settle_not_before: BTreeMap<u32, i64>,
    pub(crate) in_doubt: BTreeSet<ResourceInstance>,
    /// Whether something was not begun, or not finished, that another invocation goes on with.
    left: AtomicBool,
}

impl ApplyWalk {
    /// Whether something new may begin; that it may not is remembered.
    pub(crate) fn may_begin(&self) -> bool {
        let may = !self.context.stop.is_stopping() && self.recorder.may_begin().is_ok();
        if !may {
            self.leave();
        }
        may
    }
    /// What earlier invocations left of one part of a change.
    pub(crate) fn place(&self, change: &ResourceInstanceChange, part: Part<'_>) -> Place {
        let planned = self.plan.prior.instances.get(&change.address);
        self.members.place(change, part, planned.map(|state| &**state))
    }
    /// Waits until what an earlier invocation has sent has arrived; `false` where there is no time for that.
    pub(crate) async fn may_settle(&self, address: &ResourceInstance, claim: &Claim) -> bool {
        let environment = &self.context.environment;
        let quiet = self.settle_not_before.get(&claim.attempt).copied().unwrap_or_default();
        let unanswered = Unanswered::until(address, environment.clock.now(), quiet);
        let stopping = self.context.stop.reached(StopLevel::Draining);
        let outlasted = unanswered.outlast(environment, None, stopping).await;
        if !outlasted {
            self.leave();
        }
        outlasted && self.may_begin()
    }
    /// Whether a call was waited for often and long enough.
    pub(crate) fn is_hopeless(&self, claim: &Claim) -> bool {
        let (clock, patience) = (&self.context.environment.clock, &self.patience);
        let waited = clock.seconds().saturating_sub(claim.started.unwrap_or_default());
        let enough = patience.quiet.saturating_mul(patience.attempts);
        self.progressless_attempts >= patience.attempts
            && u64::try_from(waited).is_ok_and(|waited| waited >= enough.as_secs())
    }
    /// Records a result: what the current, or a deposed, object of a change consists of now.
    pub(crate) async fn record(
        &self,
        change: &ResourceInstanceChange,
        schema: &TypedSchema,
        deposed: Option<&DeposedKey>,
        object: Option<&Object>,
        step: Step,
    ) -> Result<(), RecordError> {
        let object = object.map(|object| stored(&change.provider, schema, object)).transpose()?;
        let put = |state: &mut _| put(state, deposed, object);
        self.records.write(&*self.recorder, &change.address, step, put).await
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
    /// Its instances that stay as they are, and whose conditions the plan could not know.
    fn unchecked(&self, resource: &ConfigResource) -> &[ResourceInstance] {
        self.unchecked.get(resource).map_or(&[], Vec::as_slice)
    }
    /// Whether what its instances are made of is evaluated.
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
    options: ApplyOptions,
) -> (Applied, Diagnostics) {
    let graph::ApplyGraph { mut graph, deposed } =
        graph::build(&context, &plan, options.resumed.as_ref());
    let mut changes = HashMap::default();
    let mut changed = BTreeSet::new();
    let mut instances = HashMap::<ConfigResource, Vec<ResourceInstance>>::default();
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
    let unchecked = check_results::unchecked(&plan);
    changed.extend(unchecked.keys().cloned());
    for address in plan.refreshed.keys() {
        if !changes.contains_key(&(address.clone(), None)) {
            instances.entry(address.config()).or_default().push(address.clone());
        }
    }
    let parts = graph.ids().filter_map(|id| match graph.vertex(id) {
        Vertex::Change(address) | Vertex::Destroy(address, _) => Some(address.clone()),
        _ => None,
    });
    let members = Members::new(options.resumed, parts);
    let records = InstanceRecords::new(plan.clone(), members.resumed());
    let relocation = Relocation {
        context: &context,
        plan: &plan,
        recorder: &*recorder,
        records: &records,
        members: &members,
    };
    let removed = RemovedProvisioners::find(&context.configuration);
    let mut unmoved = relocation.record_moves().await;
    let unimported = relocation.record_imports().await;
    let import = plan.imports.len() - unimported.len();
    unmoved.extend(unimported);
    let walk_state = Arc::new(ApplyWalk {
        context: Arc::new(context),
        plan,
        recorder,
        records,
        changes,
        changed,
        unchecked,
        instances,
        removed,
        deposed,
        unmoved,
        summary: Mutex::new(Summary { import, ..Summary::default() }),
        left: AtomicBool::new(false),
        members,
        waivers: options.waivers,
        patience: options.patience,
        progressless_attempts: options.progressless_attempts,
        settle_not_before: options.settle_not_before,
        in_doubt: options.in_doubt,
    });
    if !has_cycles(&walk_state.context, &graph) {
        ephemeral::close_after_use(&mut graph);
        walk(
            &graph,
            &walk_state,
            walk_state.context.environment.parallelism,
            visit,
            Vertex::is_always_visited,
        )
        .await;
    }
    walk_state.tell_of_earlier_failures();
    let left = walk_state.left.load(Ordering::SeqCst);
    let ending = match (left, walk_state.context.stop.cause()) {
        (false, _) => Ending::Done,
        (true, Some(StopCause::Interrupt)) => Ending::Interrupted,
        (true, _) => Ending::Continue,
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
    let checks = check_results::results(&walk_state);
    if ending != Ending::Continue {
        // Of what is gone nothing is left to be told.
        let gone = walk_state.plan.mode == PlanMode::Destroy && !diagnostics.has_errors();
        let none = CheckResults::new();
        let written = walk_state.recorder.write_checks(if gone { &none } else { &checks }).await;
        diagnostics.extend(written.err().map(|e| Diagnostic::warning(e.summary, e.detail)));
    }
    (Applied { summary, outputs, checks, ending }, diagnostics)
}

/// What keeps a plan from being applied: deletions and changes that would have to wait for each other.
pub(crate) fn check_order(context: &EvalContext, plan: &Plan) -> Diagnostics {
    let deletes = |change: &ResourceInstanceChange| {
        change.action == Action::Delete || change.action.is_replace()
    };
    // What only refers has an order, or there would be no plan.
    if plan.changes.resources.iter().any(deletes) {
        has_cycles(context, &graph::rehearse(&context.configuration, plan));
    }
    context.take_diagnostics()
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
        Vertex::Close(resource) => ephemeral::close(&walk.context, &resource).await,
        _ if !walk.may_begin() => Walked::Failed,
        Vertex::Change(address) | Vertex::Destroy(address, _) if walk.is_unmoved(&address) => {
            Walked::Failed
        }
        Vertex::Provider(address) => {
            let walked = named_values::provider(&walk.context, &address).await;
            // What an earlier invocation has begun is not over because this one lacks a provider.
            if matches!(walked, Walked::Failed) && walk.members.resumed().is_some() {
                walk.leave();
            }
            walked
        }
        Vertex::Expansion(resource) => resource::expand(walk, resource).await,
        Vertex::Resource(resource) if resource.resource.mode == ResourceMode::Ephemeral => {
            let walked = ephemeral::open(&walk.context, &resource).await;
            // Nor because something cannot be opened once more.
            if matches!(walked, Walked::Failed) && walk.members.resumed().is_some() {
                walk.leave();
            }
            walked
        }
        Vertex::Resource(resource) => resource::finish(walk, resource).await,
        Vertex::Change(address) => change::visit(walk, address).await,
        Vertex::Destroy(address, deposed) => deletion::visit(walk, address, deposed).await,
        vertex => blocking(move || named_value(&walk.context, &vertex)).await,
    }
}
