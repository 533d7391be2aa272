//! What is under way, and what is still to be done.

use crate::activity::Clock;
use crate::ephemeral::words;
use engine::changes::{Action, ResourceInstanceChange};
use engine::hooks::{EphemeralStep, Hook, HookAction, HookObject};
use engine::plan::Plan;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::Value;
use values::address::{ConfigResource, ResourceInstance, ResourceMode};

/// How many instances that wait are looked at for what they wait for.
const LOOKED_AT: usize = 50;
/// How many are shown.
const SHOWN: usize = 3;

/// What kind of work is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The world is read, and changes are planned.
    Planning,
    /// A plan is carried out.
    Applying,
}

/// One operation under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The instance, and which of its objects.
    pub name: String,
    /// What is done with it: `Creating...`
    pub verb: String,
    /// When it began, in milliseconds since the epoch.
    pub since: i64,
}

/// An instance that waits for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The instance.
    pub name: String,
    /// The resources whose changes come first.
    pub on: Vec<String>,
}

/// All that is shown, at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progressing {
    /// What kind of work it is.
    pub phase: Phase,
    /// When it began, in milliseconds since the epoch.
    pub since: i64,
    /// What runs, the oldest first.
    pub running: Vec<Running>,
    /// Some of what waits.
    pub waiting: Vec<Waiting>,
    /// How many steps have not begun.
    pub to_begin: usize,
    /// How many have ended well.
    pub done: usize,
    /// How many have failed.
    pub failed: usize,
    /// How many there are, where a plan says so. A replacement is two.
    pub total: Option<usize>,
}

/// A hook that keeps what is under way.
pub struct Board {
    clock: Clock,
    inner: Mutex<Option<Work>>,
}

type Key = (ResourceInstance, Option<String>);

struct Work {
    phase: Phase,
    since: i64,
    running: HashMap<Key, Running>,
    to_do: Option<ToDo>,
    done: usize,
    failed: usize,
}

/// What a plan has to be done.
#[derive(Default)]
struct ToDo {
    total: usize,
    /// Steps that are left, by instance.
    left: BTreeMap<ResourceInstance, usize>,
    /// What an instance's change comes after.
    after: HashMap<ResourceInstance, Arc<[ConfigResource]>>,
    /// How many instances of a resource are left.
    unfinished: HashMap<ConfigResource, usize>,
    /// Resources whose deletions come before those of another.
    dependents: HashMap<ConfigResource, BTreeSet<ConfigResource>>,
    /// Instances that are deleted and not made again.
    deletions: BTreeSet<ResourceInstance>,
}

impl Board {
    /// Nothing is under way.
    pub fn new(clock: Clock) -> Board {
        Board { clock, inner: Mutex::default() }
    }

    /// Work begins: the changes of a plan, or planning.
    pub fn begin(&self, plan: Option<&Plan>) {
        let phase = match plan {
            Some(_) => Phase::Applying,
            None => Phase::Planning,
        };
        let work = Work {
            phase,
            since: self.now(),
            running: HashMap::new(),
            to_do: plan.map(ToDo::of),
            done: 0,
            failed: 0,
        };
        *self.lock() = Some(work);
    }

    /// It has ended.
    pub fn end(&self) {
        *self.lock() = None;
    }

    /// What is under way; `None` where nothing is.
    pub fn progressing(&self) -> Option<Progressing> {
        let inner = self.lock();
        let work = inner.as_ref()?;
        let mut running: Vec<Running> = work.running.values().cloned().collect();
        running.sort_by(|a, b| a.since.cmp(&b.since).then_with(|| a.name.cmp(&b.name)));
        let is_running =
            |address: &ResourceInstance| work.running.keys().any(|(running, _)| running == address);
        let to_do = work.to_do.as_ref();
        let left = to_do.map_or(0, |to_do| to_do.left.values().sum());
        Some(Progressing {
            phase: work.phase,
            since: work.since,
            waiting: to_do.map(|to_do| to_do.waiting(is_running)).unwrap_or_default(),
            to_begin: usize::saturating_sub(left, running.len()),
            running,
            done: work.done,
            failed: work.failed,
            total: to_do.map(|to_do| to_do.total),
        })
    }

    fn now(&self) -> i64 {
        (self.clock)().as_millisecond()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Work>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, object: &HookObject<'_>, verb: impl Into<String>) -> HookAction {
        let name = match object.deposed {
            Some(key) => format!("{} (deposed object {key})", object.address),
            None => object.address.to_string(),
        };
        let running = Running { name, verb: verb.into(), since: self.now() };
        if let Some(work) = &mut *self.lock() {
            work.running.insert(key(object), running);
        }
        HookAction::Continue
    }

    /// It goes on with something else, and for the same time.
    fn change(&self, address: &ResourceInstance, verb: String) -> HookAction {
        if let Some(work) = &mut *self.lock()
            && let Some(running) = work.running.get_mut(&(address.clone(), None))
        {
            running.verb = verb;
        }
        HookAction::Continue
    }

    fn stop(&self, object: &HookObject<'_>, succeeded: bool) -> HookAction {
        if let Some(work) = &mut *self.lock()
            && work.running.remove(&key(object)).is_some()
        {
            match succeeded {
                true => work.done += 1,
                false => work.failed += 1,
            }
            if let Some(to_do) = &mut work.to_do {
                to_do.finish(object.address, succeeded);
            }
        }
        HookAction::Continue
    }
}

fn key(object: &HookObject<'_>) -> Key {
    (object.address.clone(), object.deposed.map(ToString::to_string))
}

fn current(address: &ResourceInstance) -> HookObject<'_> {
    HookObject { address, deposed: None }
}

impl ToDo {
    fn of(plan: &Plan) -> ToDo {
        let mut to_do = ToDo::default();
        let changes = plan.changes.resources.iter();
        for change in changes.filter(|change| steps(change) > 0) {
            let resource = change.address.config();
            to_do.total += steps(change);
            let left = to_do.left.entry(change.address.clone()).or_default();
            if *left == 0 {
                *to_do.unfinished.entry(resource.clone()).or_default() += 1;
            }
            *left += steps(change);
            if change.action == Action::Delete {
                if change.deposed.is_none() {
                    to_do.deletions.insert(change.address.clone());
                }
                for dependency in change.dependencies.iter().filter(|other| **other != resource) {
                    let dependents = to_do.dependents.entry(dependency.clone()).or_default();
                    dependents.insert(resource.clone());
                }
            } else {
                to_do.after.insert(change.address.clone(), change.dependencies.clone());
            }
        }
        to_do
    }

    fn finish(&mut self, address: &ResourceInstance, succeeded: bool) {
        let Some(left) = self.left.get_mut(address) else { return };
        *left = match succeeded {
            true => left.saturating_sub(1),
            // What comes after a failure is not tried.
            false => 0,
        };
        if *left == 0 {
            self.left.remove(address);
            if let Some(unfinished) = self.unfinished.get_mut(&address.config()) {
                *unfinished = unfinished.saturating_sub(1);
            }
        }
    }

    fn waiting(&self, is_running: impl Fn(&ResourceInstance) -> bool) -> Vec<Waiting> {
        let unfinished = |resource: &&ConfigResource| {
            self.unfinished.get(*resource).is_some_and(|instances| *instances > 0)
        };
        let begin = self.left.keys().filter(|address| !is_running(address)).take(LOOKED_AT);
        let waiting = begin.filter_map(|address| {
            let here = address.config();
            let on: Vec<String> = match self.deletions.contains(address) {
                true => {
                    let dependents = self.dependents.get(&here).into_iter().flatten();
                    dependents.filter(unfinished).map(ToString::to_string).collect()
                }
                false => {
                    let after = self.after.get(address).into_iter().flat_map(|after| after.iter());
                    let others = after.filter(|other| **other != here);
                    others.filter(unfinished).map(ToString::to_string).collect()
                }
            };
            (!on.is_empty()).then(|| Waiting { name: address.to_string(), on })
        });
        waiting.take(SHOWN).collect()
    }
}

/// How many calls of a provider a change takes.
fn steps(change: &ResourceInstanceChange) -> usize {
    match change.action {
        Action::NoOp => 0,
        Action::Delete if change.address.resource.mode != ResourceMode::Managed => 0,
        Action::Create | Action::Read | Action::Update | Action::Delete | Action::Forget => 1,
        Action::DeleteThenCreate | Action::CreateThenDelete => 2,
    }
}

impl Hook for Board {
    fn pre_refresh(&self, object: &HookObject<'_>, _before: &Value) -> HookAction {
        self.start(object, "Refreshing state...")
    }
    fn post_refresh(&self, object: &HookObject<'_>, _before: &Value, _after: &Value) -> HookAction {
        self.stop(object, true)
    }
    fn pre_read(&self, address: &ResourceInstance) -> HookAction {
        self.start(&current(address), "Reading...")
    }
    fn post_read(&self, address: &ResourceInstance, result: Result<&Value, &str>) -> HookAction {
        self.stop(&current(address), result.is_ok())
    }
    fn pre_apply(
        &self,
        object: &HookObject<'_>,
        action: Action,
        _before: &Value,
        _after: &Value,
    ) -> HookAction {
        let verb = match action {
            Action::Update => "Modifying...",
            Action::Delete => "Destroying...",
            Action::Read => "Reading...",
            Action::Forget => "Forgetting...",
            _ => "Creating...",
        };
        self.start(object, verb)
    }
    fn post_apply(
        &self,
        object: &HookObject<'_>,
        _action: Action,
        _after: &Value,
        error: Option<&str>,
    ) -> HookAction {
        self.stop(object, error.is_none())
    }
    fn pre_provision(&self, address: &ResourceInstance, kind: &str) -> HookAction {
        self.change(address, format!("Provisioning with '{kind}'..."))
    }
    fn pre_ephemeral(&self, address: &ResourceInstance, step: EphemeralStep) -> HookAction {
        self.start(&current(address), format!("{}...", words(step).start))
    }
    fn post_ephemeral(
        &self,
        address: &ResourceInstance,
        _step: EphemeralStep,
        error: Option<&str>,
    ) -> HookAction {
        self.stop(&current(address), error.is_none())
    }
}
