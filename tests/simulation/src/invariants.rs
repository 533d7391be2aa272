//! What must hold when everything has ended and the estate was brought in order.

use crate::operator::recorded;
use crate::scenario::Scene;
use crate::storage::Written;
use engine::estate::EstateReading;
use engine::identifiers::PlanId;
use engine::record::body::{ClaimState, InstanceBody, Phase, TransactionBody, decode};
use engine::record::key::{EstateKeys, EstateName};
use records::{Key, Version};
use std::collections::{BTreeMap, BTreeSet};

/// All that is broken.
pub(crate) fn broken(scene: &Scene, reading: Option<&EstateReading>) -> Vec<String> {
    let mut broken = scene.violations();
    broken.extend(scene.scheduler.lock().world.things.violations.iter().cloned());
    match reading {
        Some(reading) => broken.extend(accounts(scene, reading)),
        None => broken.push("Unreadable: the records cannot be read in the end".to_owned()),
    }
    broken.extend(unserializable(scene));
    broken.extend(let_go(scene));
    if scene.answers_are_recorded {
        broken.extend(forgotten(scene));
    }
    broken
}

/// Each thing is in one record, and each record's objects exist.
fn accounts(scene: &Scene, reading: &EstateReading) -> Vec<String> {
    let mut broken = Vec::new();
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for (id, address) in recorded(reading) {
        places.entry(id).or_default().push(address.to_string());
    }
    let inner = scene.scheduler.lock();
    for (id, thing) in &inner.world.things.all {
        match places.get(id).map(Vec::as_slice) {
            None => broken.push(format!(
                "ResultLost: {id} ({}) was made by plan {:?}, and no record says so",
                thing.facts.label, thing.made_by
            )),
            Some([_]) => {}
            Some(several) => broken.push(format!("TwoRecords: {id} is in {several:?}")),
        }
    }
    for (id, address) in places.iter().filter(|(id, _)| !inner.world.things.all.contains_key(*id)) {
        broken.push(format!("Imagined: {address:?} has {id}, which does not exist"));
    }
    broken
}

/// Claims of a transaction that has decided, and that were gone before it had ended or was fenced.
fn let_go(scene: &Scene) -> Vec<String> {
    let inner = scene.scheduler.lock();
    let mut executing = BTreeSet::<PlanId>::new();
    let mut claims = BTreeMap::<&Key, PlanId>::new();
    let mut broken = Vec::new();
    for written in &inner.world.storage.history {
        if let Some(transaction) = transaction(written) {
            match transaction.phase {
                Phase::Executing => executing.insert(transaction.plan),
                _ => executing.remove(&transaction.plan),
            };
            continue;
        }
        let claim = instance(written).and_then(|body| body.claim).map(|claim| claim.transaction);
        let before = match &claim {
            Some(claim) => claims.insert(&written.key, claim.clone()),
            None => claims.remove(&written.key),
        };
        let lost = before.filter(|before| claim.as_ref() != Some(before));
        if let Some(plan) = lost.filter(|plan| executing.contains(plan)) {
            broken.push(format!(
                "ClaimsHeld: {} lost the claim of {plan}, which executes",
                written.key
            ));
        }
    }
    broken
}

/// What a provider has answered to a process that lived on, and no record ever said.
fn forgotten(scene: &Scene) -> Vec<String> {
    let told = scene.scheduler.told_to_survivors();
    let inner = scene.scheduler.lock();
    let bodies = inner.world.storage.history.iter().filter_map(|written| written.body.as_deref());
    let bodies: Vec<serde_json::Value> =
        bodies.filter_map(|body| serde_json::from_slice(body).ok()).collect();
    let stamps: BTreeSet<&str> = bodies.iter().flat_map(stamps_in).collect();
    let untold = told.iter().filter(|stamp| !stamps.contains(stamp.as_str()));
    untold.map(|stamp| format!("ResultLost: {stamp} was answered, and no record says so")).collect()
}

/// The stamps of all objects in a record's body.
fn stamps_in(body: &serde_json::Value) -> impl Iterator<Item = &str> {
    let deposed = body["deposed"].as_object().into_iter().flat_map(|deposed| deposed.values());
    std::iter::once(&body["object"])
        .chain(deposed)
        .filter_map(|object| object["values"]["stamp"].as_str())
}

/// A state of a record that lasted until another transaction changed it.
struct Epoch {
    writer: Option<PlanId>,
    /// From which place in the history on.
    begun: usize,
    /// Whether there was nothing: one state, whenever it comes again.
    absent: bool,
}

/// What became of one record.
#[derive(Default)]
struct Course {
    epochs: Vec<Epoch>,
    /// The epoch of each version.
    by_version: BTreeMap<String, usize>,
}

/// Whether the transactions that changed something have no order that explains what they read.
fn unserializable(scene: &Scene) -> Vec<String> {
    let plans = scene.plans();
    let courses = courses(scene);
    let changing: BTreeSet<&PlanId> = courses
        .values()
        .flat_map(|course| &course.epochs)
        .filter_map(|epoch| epoch.writer.as_ref())
        .collect();
    let mut before = BTreeMap::<PlanId, BTreeSet<PlanId>>::new();
    let Some(keys) = keys() else { return Vec::new() };
    let decided = decided(scene);
    for made in plans.iter().filter(|made| changing.contains(&made.saved.id)) {
        let plan = &made.saved.id;
        for (address, member) in made.saved.recorded_members() {
            let Ok(key) = keys.instance(address) else { continue };
            let Some(course) = courses.get(&key) else { continue };
            let decided = decided.get(plan).copied().unwrap_or(made.made_at);
            let Some(epoch) = course.epoch_of(&member.version, decided) else { continue };
            let wrote = course.epochs.get(epoch).and_then(|epoch| epoch.writer.as_ref());
            if let Some(writer) = wrote.filter(|writer| *writer != plan) {
                before.entry(writer.clone()).or_default().insert(plan.clone());
            }
            let next = course.epochs.get(epoch + 1).and_then(|epoch| epoch.writer.as_ref());
            if let Some(writer) = next.filter(|writer| *writer != plan) {
                before.entry(plan.clone()).or_default().insert(writer.clone());
            }
        }
    }
    let number = |id: &PlanId| {
        let made = plans.iter().find(|made| made.saved.id == *id);
        made.map_or_else(|| "?".to_owned(), |made| made.number.to_string())
    };
    match cycle(&before) {
        None => Vec::new(),
        Some(cycle) => {
            let cycle: Vec<String> = cycle.iter().map(number).collect();
            vec![format!(
                "Serializable: each of these plans rests on what came before the next one's change: {}",
                cycle.join(", ")
            )]
        }
    }
}

/// At which place in the history each plan has decided.
fn decided(scene: &Scene) -> BTreeMap<PlanId, usize> {
    let inner = scene.scheduler.lock();
    let mut decided = BTreeMap::new();
    for (place, written) in inner.world.storage.history.iter().enumerate() {
        if let Some(transaction) = transaction(written).filter(|t| t.phase == Phase::Executing) {
            decided.entry(transaction.plan).or_insert(place);
        }
    }
    decided
}

fn transaction(written: &Written) -> Option<TransactionBody> {
    let body = written.body.as_ref().filter(|_| written.key.as_str().contains("/t/"))?;
    decode(&written.key, body).ok()
}

fn instance(written: &Written) -> Option<InstanceBody> {
    let body = written.body.as_ref().filter(|_| written.key.as_str().contains("/r/i/"))?;
    decode(&written.key, body).ok()
}

fn keys() -> Option<EstateKeys> {
    EstateKeys::new("", &EstateName::new("e").ok()?).ok()
}

fn courses(scene: &Scene) -> BTreeMap<Key, Course> {
    let inner = scene.scheduler.lock();
    let mut courses = BTreeMap::<Key, Course>::new();
    let mut last = BTreeMap::<Key, InstanceBody>::new();
    for (place, written) in inner.world.storage.history.iter().enumerate() {
        if !written.key.as_str().contains("/r/i/") {
            continue;
        }
        let course = courses.entry(written.key.clone()).or_insert_with(Course::begun);
        let Some(body) = &written.body else {
            last.remove(&written.key);
            continue;
        };
        let Ok(body) = decode::<InstanceBody>(&written.key, body) else { continue };
        let before = last.insert(written.key.clone(), body.clone());
        let revision = before.as_ref().map_or("", |before| &before.revision);
        if revision != body.revision {
            // A call that was in flight is what changed it, whoever found that out; and a move that was half done, whoever
            // has finished it.
            let claim = before.as_ref().and_then(|before| {
                let claim = before.claim.as_ref()?;
                let in_flight =
                    matches!(claim.state, ClaimState::Applying | ClaimState::Unfinished);
                (in_flight || before.written_by == body.written_by).then_some(claim)
            });
            let writer = claim
                .map(|claim| claim.transaction.clone())
                .or_else(|| body.written_by.transaction.clone());
            let absent = body.revision.is_empty();
            course.epochs.push(Epoch { writer, begun: place, absent });
        }
        let epoch = course.epochs.len() - 1;
        course.by_version.insert(written.version.as_str().to_owned(), epoch);
    }
    courses
}

impl Course {
    fn begun() -> Self {
        let nothing = Epoch { writer: None, begun: 0, absent: true };
        Self { epochs: vec![nothing], by_version: BTreeMap::new() }
    }

    /// The epoch in which a plan that decided at a place in the history has found the record as it had read it.
    fn epoch_of(&self, version: &Version, decided: usize) -> Option<usize> {
        let read = self.by_version.get(version.as_str()).copied();
        match read {
            Some(epoch) if !self.epochs.get(epoch).is_some_and(|epoch| epoch.absent) => Some(epoch),
            None if !version.is_absent() => None,
            _ => self.epochs.iter().rposition(|epoch| epoch.absent && epoch.begun <= decided),
        }
    }
}

/// A way from something back to itself.
fn cycle(before: &BTreeMap<PlanId, BTreeSet<PlanId>>) -> Option<Vec<PlanId>> {
    fn search(
        before: &BTreeMap<PlanId, BTreeSet<PlanId>>,
        path: &mut Vec<PlanId>,
        over: &mut BTreeSet<PlanId>,
        at: &PlanId,
    ) -> bool {
        if over.contains(at) {
            return false;
        }
        if let Some(begun) = path.iter().position(|other| other == at) {
            path.drain(..begun);
            return true;
        }
        path.push(at.clone());
        for next in before.get(at).into_iter().flatten() {
            if search(before, path, over, next) {
                return true;
            }
        }
        path.pop();
        over.insert(at.clone());
        false
    }
    let mut over = BTreeSet::new();
    before.keys().find_map(|start| {
        let mut path = Vec::new();
        search(before, &mut path, &mut over, start).then_some(path)
    })
}
