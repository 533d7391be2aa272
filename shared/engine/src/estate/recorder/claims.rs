//! Claims as the work goes on: each record tells of the call in flight, and of what came of it.

use super::messages::not_begun;
use super::{EstateRecorder, Kind, Mark, Slot, lock};
use crate::estate::{Swapped, swap_instance};
use crate::hashing::HashMap;
use crate::identifiers::hexadecimal;
use crate::object::DeposedKey;
use crate::record::body::{
    Claim, ClaimState, ClaimedAction, ClaimedObject, Doubt, InstanceBody, JournalOutcome,
    ProvisionersStanding, RecordKind, decode, encode,
};
use crate::recorder::{Call, CallRefused, NothingMore, RecordError, Step};
use crate::state::InstanceState;
use crate::transaction::{MemberProgress, Progress, Standing, TransactionError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use values::address::ResourceInstance;

/// Whose turn it is at each instance: a record tells of one call in flight.
#[derive(Default)]
pub(super) struct Turns {
    turns: Mutex<HashMap<ResourceInstance, Arc<AsyncMutex<()>>>>,
    in_flight: Mutex<HashMap<ResourceInstance, OwnedMutexGuard<()>>>,
}

impl Turns {
    async fn take(&self, address: &ResourceInstance) -> OwnedMutexGuard<()> {
        let turn = lock(&self.turns).entry(address.clone()).or_default().clone();
        turn.lock_owned().await
    }

    /// The turn goes on until the end of the call.
    pub(super) fn keep(&self, address: &ResourceInstance, turn: OwnedMutexGuard<()>) {
        lock(&self.in_flight).insert(address.clone(), turn);
    }

    /// The turn of the call in flight, which ends with this; a turn of its own where there is none.
    pub(super) async fn end_of_call(&self, address: &ResourceInstance) -> OwnedMutexGuard<()> {
        let kept = lock(&self.in_flight).remove(address);
        match kept {
            Some(turn) => turn,
            None => self.take(address).await,
        }
    }
}

impl EstateRecorder {
    fn is_ours(&self, claim: &Claim) -> bool {
        claim.transaction == self.plan
    }

    /// The claim of this transaction that a record carries.
    pub(super) fn own_claim(&self, slot: &Slot) -> Option<Claim> {
        let claim = slot.carried.as_ref()?.claim.clone()?;
        self.is_ours(&claim).then_some(claim)
    }

    /// Whether a record says that the provisioners of its object run.
    pub(super) fn is_provisioning(&self, slot: &Slot) -> bool {
        let claim = self.own_claim(slot);
        claim.is_some_and(|claim| claim.provisioners == Some(ProvisionersStanding::Begun))
    }

    pub(super) async fn begin_call(
        &self,
        address: &ResourceInstance,
        call: &Call,
    ) -> Result<(), CallRefused> {
        self.lease.may_begin()?;
        let turn = self.turns.take(address).await;
        // The turn may have come late.
        self.lease.may_begin()?;
        let slot = self.slot(address);
        let now = self.estate.clock.seconds();
        let mut state = (*slot.state).clone();
        if let Some(key) = &call.put_aside
            && let Some(object) = state.current.take()
        {
            state.deposed.insert(key.clone(), object);
        }
        // An instance that the plan does not list has no claim, and its record tells nothing.
        let announced = self.own_claim(&slot).filter(|_| call.needs_announcement());
        if let Some(mut claim) = announced {
            let before = claim.clone();
            claim.attempt = self.attempt;
            claim.object = call.object.clone();
            claim.action = call.action;
            claim.state = ClaimState::Applying;
            claim.token = call.token.clone();
            claim.import_identity = call.import_identity.clone();
            claim.provisioners = call.provisioners;
            claim.started = Some(now);
            claim.begun = true;
            if let Some(key) = &call.put_aside {
                claim.put_aside = Some(key.to_string());
            }
            self.write_begin(address, &slot, state, claim).await?;
            // Writing it may have taken until after the lease, or this process may have been suspended meanwhile.
            if let Err(nothing_more) = self.lease.may_begin() {
                let (slot, state) = (self.slot(address), (*slot.state).clone());
                // Where that fails, whoever goes on looks in vain for what the call has done.
                let _ = self.write_begin(address, &slot, state, before).await;
                return Err(nothing_more.into());
            }
        }
        lock(&self.journal).begin(address, &call.object, call.action, now);
        self.turns.keep(address, turn);
        Ok(())
    }

    async fn write_begin(
        &self,
        address: &ResourceInstance,
        slot: &Slot,
        state: InstanceState,
        claim: Claim,
    ) -> Result<(), CallRefused> {
        let refused = |why: &dyn std::fmt::Display| not_begun(address, why);
        let key = self.estate.keys.instance(address).map_err(|e| refused(&e))?;
        let kind = Kind::Result(Mark { claim: Some(claim), doubt: None, outcome: None });
        let body = self.body(&key, address, &state, slot, &kind).map_err(|e| refused(&e))?;
        let encoded = encode(&key, &body).map_err(|e| refused(&e))?;
        match swap_instance(&*self.estate.store, &key, encoded, &slot.version).await {
            Ok(Swapped::Written(version)) => {
                self.wrote(address, version, body, state);
                Ok(())
            }
            Ok(Swapped::Lost(found)) => {
                if !self.lease.is_still_ours().await {
                    return Err(NothingMore::TakenOver.into());
                }
                let by = found.and_then(|r| decode::<InstanceBody>(&key, &r.body).ok());
                let by = by.map_or_else(
                    || "its record was removed".to_owned(),
                    |b| {
                        let by = b.written_by;
                        format!("the run {} of {} wrote its record", by.run, by.principal)
                    },
                );
                Err(refused(&by).into())
            }
            Err(error) => Err(refused(&error).into()),
        }
    }

    /// What the record of a member says of it after a step.
    pub(super) fn mark(&self, address: &ResourceInstance, step: Step) -> Mark {
        let slot = self.slot(address);
        let Some(mut claim) = self.own_claim(&slot) else {
            return Mark { outcome: Some(JournalOutcome::Recorded), ..Mark::default() };
        };
        let member = self.members.get(address);
        let action = claim.action;
        claim.attempt = self.attempt;
        claim.begun = true;
        match step {
            Step::Unfinished => claim.state = ClaimState::Unfinished,
            Step::Provisioning => claim.state = ClaimState::Applying,
            Step::Between | Step::BeforeProvisioners => {
                claim.state = ClaimState::Claimed;
                if let Some(member) = member {
                    (claim.object, claim.action) = (member.object.clone(), member.action);
                }
            }
            Step::Done | Step::Failed => claim.state = ClaimState::Done,
        }
        claim.provisioners = match step {
            Step::Unfinished => claim.provisioners,
            Step::BeforeProvisioners => Some(ProvisionersStanding::Pending),
            Step::Provisioning => Some(ProvisionersStanding::Begun),
            Step::Between | Step::Done | Step::Failed => None,
        };
        claim.failed |= step == Step::Failed;
        if step != Step::Unfinished {
            (claim.token, claim.import_identity, claim.started) = (None, None, None);
        }
        let outcome = match step {
            Step::Provisioning => None,
            Step::Between | Step::Done | Step::BeforeProvisioners => Some(JournalOutcome::Recorded),
            Step::Failed => Some(JournalOutcome::Failed),
            Step::Unfinished => Some(JournalOutcome::Unfinished),
        };
        // What needs no provider was begun by nobody.
        let mut journal = lock(&self.journal);
        if !journal.is_begun(address) && step != Step::Between {
            journal.begin(address, &claim.object, action, self.estate.clock.seconds());
        }
        Mark { claim: Some(claim), doubt: None, outcome }
    }

    pub(super) async fn put_doubt(
        &self,
        address: &ResourceInstance,
        object: &ClaimedObject,
        token: Option<&str>,
    ) -> Result<(), RecordError> {
        let claim = self.own_claim(&self.slot(address));
        let mut mark = self.mark(address, Step::Failed);
        mark.outcome = Some(JournalOutcome::InDoubt);
        mark.doubt = Some(Doubt {
            transaction: self.plan.clone(),
            object: object.clone(),
            since: self.estate.clock.seconds(),
            token: token.map(str::to_owned),
            unprovisioned: claim.is_some_and(|claim| claim.provisioners.is_some()),
        });
        let state = self.slot(address).state.clone();
        self.put(address, &state, Kind::Result(mark)).await
    }

    /// Calls that were begun and never answered.
    fn unanswered(&self) -> BTreeMap<ResourceInstance, Claim> {
        let slots = lock(&self.slots);
        let unanswered = |(address, slot): (&ResourceInstance, &Arc<Slot>)| {
            let claim = self.own_claim(slot)?;
            let lost = claim.state == ClaimState::Applying && slot.stray.is_none();
            lost.then(|| (address.clone(), claim))
        };
        slots.iter().filter_map(unanswered).collect()
    }

    /// Instances whose update or delete was begun and never answered: it may still reach the world, and a plan that has read
    /// the world before that must be stale. A create that comes late is found by whoever looks into its doubt.
    pub(crate) fn unanswered_changes(&self) -> Vec<ResourceInstance> {
        let changes = self.unanswered().into_iter();
        let changes = changes.filter(|(_, claim)| claim.action != ClaimedAction::Create);
        changes.map(|(address, _)| address).collect()
    }

    /// Before the transaction ends, and after what [`EstateRecorder::unanswered_changes`] names can reach the world no more:
    /// a call that was begun and never answered leaves its trace. A create may have made something; what rests on the
    /// recorded values of another object is stale.
    pub(crate) async fn doubt_what_was_not_answered(&self) -> Result<(), TransactionError> {
        let plan = &self.plan;
        for (address, claim) in self.unanswered() {
            let now = self.estate.clock.seconds();
            let changed = self.estate.amend(&address, |body| {
                let ours = body
                    .claim
                    .as_ref()
                    .is_some_and(|c| c.transaction == *plan && c.state == ClaimState::Applying);
                if !ours {
                    return false;
                }
                if let Some(claim) = &mut body.claim {
                    (claim.state, claim.failed) = (ClaimState::Done, true);
                }
                match (claim.provisioners, claim.action) {
                    // What was made is recorded, as tainted.
                    (Some(ProvisionersStanding::Begun), _) => {}
                    (provisioners, ClaimedAction::Create) => {
                        body.doubt = Some(Doubt {
                            transaction: plan.clone(),
                            object: claim.object.clone(),
                            since: now,
                            token: claim.token.clone(),
                            unprovisioned: provisioners.is_some(),
                        });
                    }
                    _ if body.kind == RecordKind::Live => {
                        body.revision = hexadecimal(&*self.estate.random);
                    }
                    _ => {}
                }
                true
            });
            changed.await?;
            self.settle(
                &address,
                match claim.provisioners {
                    Some(ProvisionersStanding::Begun) => JournalOutcome::Failed,
                    _ => JournalOutcome::InDoubt,
                },
            );
        }
        Ok(())
    }

    /// How far every claimed member is.
    pub(crate) fn progress(&self) -> Progress {
        let slots = lock(&self.slots);
        let member = |(address, slot): (&ResourceInstance, &Arc<Slot>)| {
            let claim = self.own_claim(slot)?;
            let standing = match claim.state {
                ClaimState::Claimed => Standing::ToDo(claim),
                ClaimState::Applying => Standing::InFlight(claim),
                ClaimState::Unfinished => Standing::Unfinished(claim),
                ClaimState::Done => Standing::Done { failed: claim.failed },
            };
            let state = slot.state.clone();
            Some((address.clone(), MemberProgress { standing, state }))
        };
        Progress { members: slots.iter().filter_map(member).collect() }
    }
}

impl From<&Claim> for Call {
    /// The call that a claim tells of.
    fn from(claim: &Claim) -> Call {
        Call {
            object: claim.object.clone(),
            action: claim.action,
            put_aside: claim.put_aside.as_deref().map(DeposedKey::from_stored),
            token: claim.token.clone(),
            import_identity: claim.import_identity.clone(),
            provisioners: claim.provisioners,
            reaches_outside: true,
        }
    }
}
