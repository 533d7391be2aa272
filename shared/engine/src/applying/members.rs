//! How far each instance is: what earlier invocations left of it, and what remains to be done.

use crate::changes::{Action, ResourceInstanceChange};
use crate::hashing::HashMap;
use crate::object::DeposedKey;
use crate::record::body::{Claim, ClaimedAction, ClaimedObject, ProvisionersStanding};
use crate::recorder::Step;
use crate::state::InstanceState;
use crate::transaction::{MemberProgress, Progress, Standing};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;
use values::address::ResourceInstance;

/// One of the things that are done to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Its current object is created, updated or read.
    Change,
    /// Its current object, or the deposed one with this key, is deleted.
    Destroy(Option<&'a DeposedKey>),
}

/// What an earlier invocation left of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    /// All of it. `again` where that invocation was not the first: the world may have moved since the plan was
    /// checked against it.
    ToDo { again: bool },
    /// Nothing.
    Done,
    /// Nothing, since something failed.
    Failed,
    /// A provider was asked, and its answer is not recorded.
    InFlight(Box<Claim>),
    /// A provider was stopped at it.
    Unfinished(Box<Claim>),
    /// The object is made; its provisioners are to be run.
    ToProvision,
    /// The object is made; its provisioners may have run.
    Provisioning(Box<Claim>),
}

/// What remains of an instance.
#[derive(Default)]
struct Remaining {
    parts: usize,
    failed: bool,
}

/// The instances of one apply.
pub(crate) struct Members {
    resumed: Option<Progress>,
    remaining: Mutex<HashMap<ResourceInstance, Remaining>>,
    /// Of instances with several parts: a record tells of one call in flight, so they take turns.
    turns: HashMap<ResourceInstance, Arc<tokio::sync::Mutex<()>>>,
    /// What failed in earlier invocations, as far as somebody came upon it.
    failed_earlier: Mutex<BTreeSet<ResourceInstance>>,
}

impl Members {
    /// `parts` has the address of each part once.
    pub(crate) fn new(
        resumed: Option<Progress>,
        parts: impl Iterator<Item = ResourceInstance>,
    ) -> Members {
        let mut remaining = HashMap::<ResourceInstance, Remaining>::default();
        for address in parts {
            remaining.entry(address).or_default().parts += 1;
        }
        let several = remaining.iter().filter(|(_, remaining)| remaining.parts > 1);
        let turns = several.map(|(address, _)| (address.clone(), Arc::default())).collect();
        Members {
            resumed,
            turns,
            remaining: Mutex::new(remaining),
            failed_earlier: Mutex::default(),
        }
    }

    /// What an earlier invocation left; `None` in the first.
    pub(crate) fn resumed(&self) -> Option<&Progress> {
        self.resumed.as_ref()
    }

    /// Whether an earlier invocation has done anything to an instance.
    pub(crate) fn is_begun(&self, address: &ResourceInstance) -> bool {
        let member = self.resumed.as_ref().and_then(|progress| progress.members.get(address));
        member.is_some_and(MemberProgress::is_begun)
    }

    /// Waits until no other part of the instance is at work.
    pub(crate) async fn turn(&self, address: &ResourceInstance) -> Option<OwnedMutexGuard<()>> {
        match self.turns.get(address) {
            Some(turn) => Some(turn.clone().lock_owned().await),
            None => None,
        }
    }

    fn remaining(&self) -> MutexGuard<'_, HashMap<ResourceInstance, Remaining>> {
        self.remaining.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the instance is once a result of one of its parts is recorded.
    pub(crate) fn step(&self, address: &ResourceInstance, ok: bool) -> Step {
        let mut all = self.remaining();
        let Some(remaining) = all.get_mut(address) else { return Step::Done };
        remaining.failed |= !ok;
        match (remaining.failed, remaining.parts) {
            (true, _) => Step::Failed,
            (false, 0 | 1) => Step::Done,
            (false, _) => Step::Between,
        }
    }

    /// How far an instance is that was only recorded at its place so far.
    pub(crate) fn step_before_parts(&self, address: &ResourceInstance) -> Step {
        match self.remaining().contains_key(address) {
            true => Step::Between,
            false => Step::Done,
        }
    }

    /// A part is over, whatever it came to.
    pub(crate) fn end_part(&self, address: &ResourceInstance) {
        if let Some(remaining) = self.remaining().get_mut(address) {
            remaining.parts = remaining.parts.saturating_sub(1);
        }
    }

    /// Notes that an instance failed in an earlier invocation.
    pub(crate) fn note_earlier_failure(&self, address: &ResourceInstance) {
        let mut failed = self.failed_earlier.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert(address.clone());
    }

    /// What failed in earlier invocations.
    pub(crate) fn earlier_failures(&self) -> BTreeSet<ResourceInstance> {
        self.failed_earlier.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What an earlier invocation left of a part. `planned` is what the plan found recorded.
    pub(crate) fn place(
        &self,
        change: &ResourceInstanceChange,
        part: Part<'_>,
        planned: Option<&InstanceState>,
    ) -> Place {
        let Some(progress) = &self.resumed else { return Place::ToDo { again: false } };
        let to_do = Place::ToDo { again: true };
        let Some(member) = progress.members.get(&change.address) else { return to_do };
        match &member.standing {
            Standing::Done { failed: true } => Place::Failed,
            Standing::Done { failed: false } => Place::Done,
            Standing::ToDo(claim) if !claim.begun => to_do,
            Standing::ToDo(claim) if part == Part::Change && is_to_provision(claim) => {
                Place::ToProvision
            }
            Standing::InFlight(claim) if part == Part::Change && is_provisioning(claim) => {
                Place::Provisioning(Box::new(claim.clone()))
            }
            Standing::InFlight(claim) if concerns(claim, part) => {
                Place::InFlight(Box::new(claim.clone()))
            }
            Standing::Unfinished(claim) if concerns(claim, part) => {
                Place::Unfinished(Box::new(claim.clone()))
            }
            Standing::ToDo(_) | Standing::InFlight(_) | Standing::Unfinished(_) => {
                match self.is_done(change, part, member, planned) {
                    true => Place::Done,
                    // Begun by us: the record is not what the plan saw, so there is nothing to compare.
                    false => Place::ToDo { again: false },
                }
            }
        }
    }

    /// Whether a record that was begun shows that this part is done.
    fn is_done(
        &self,
        change: &ResourceInstanceChange,
        part: Part<'_>,
        member: &MemberProgress,
        planned: Option<&InstanceState>,
    ) -> bool {
        let current = member.state.current.as_ref();
        let replaced = current != planned.and_then(|state| state.current.as_ref());
        match (part, change.action) {
            (Part::Destroy(Some(key)), _) => !member.state.deposed.contains_key(key),
            (Part::Destroy(None), _) => current.is_none() || replaced,
            (Part::Change, Action::CreateThenDelete) => {
                put_aside(&member.standing).is_some() && current.is_some()
            }
            (Part::Change, Action::DeleteThenCreate) => current.is_some() && replaced,
            // What was begun may be another part, or only that it was recorded here.
            (Part::Change, _) => self.turns.contains_key(&change.address) && replaced,
        }
    }
}

/// Where a replacement that creates first has put what it replaces.
pub(crate) fn put_aside(standing: &Standing) -> Option<DeposedKey> {
    match standing {
        Standing::ToDo(claim) | Standing::InFlight(claim) | Standing::Unfinished(claim) => {
            claim.put_aside.as_deref().map(DeposedKey::from_stored)
        }
        Standing::Done { .. } => None,
    }
}

fn is_to_provision(claim: &Claim) -> bool {
    claim.provisioners == Some(ProvisionersStanding::Pending)
}

fn is_provisioning(claim: &Claim) -> bool {
    claim.provisioners == Some(ProvisionersStanding::Begun)
}

/// Whether a claim's call is one of this part.
fn concerns(claim: &Claim, part: Part<'_>) -> bool {
    match (&claim.object, part) {
        (ClaimedObject::Current, Part::Change) => claim.action != ClaimedAction::Delete,
        (ClaimedObject::Current, Part::Destroy(None)) => claim.action == ClaimedAction::Delete,
        (ClaimedObject::Deposed(key), Part::Destroy(Some(own))) => key == own.as_str(),
        _ => false,
    }
}
