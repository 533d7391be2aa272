//! Takeover: what a dead transaction has claimed is given back, and what it had in flight is settled.
//!
//! Every step is a compare-and-swap that another invocation may have made before, so a takeover that dies is
//! gone on with by the next one; the transaction leaves the estate's list only once nothing is open.

use super::settling::{InFlight, Settled, Settler};
use super::{Holder, Transaction, TransactionError, lease};
use crate::estate::{
    EstateError, EstateHeader, EstateReading, RecordFacts, Swapped, swap, swap_instance,
};
use crate::identifiers::{PlanId, WriteId, hexadecimal};
use crate::record::body::{
    Claim, ClaimState, ClaimedAction, Doubt, InstanceBody, Phase, ProvisionersStanding, RecordKind,
    TransactionBody, decode, encode,
};
use crate::state::InstanceState;
use futures::stream::{self, StreamExt, TryStreamExt};
use records::{Key, Version};
use std::collections::BTreeSet;
use values::address::ResourceInstance;

/// How often all records of a dead transaction are gone through, since others may write them meanwhile.
const ROUNDS: u32 = 8;

impl Transaction {
    /// Takes over a transaction whose lease is over, unless it turns out to live. Afterwards it claims nothing.
    ///
    /// # Errors
    /// Where the store fails, or a provider cannot be asked what became of a call.
    pub(super) async fn fence(
        &self,
        dead: &PlanId,
        settler: Option<&dyn Settler>,
    ) -> Result<(), TransactionError> {
        let estate = &self.estate;
        let key = estate.keys.transaction(dead)?;
        let Some(record) = estate.store.get(&key).await? else { return Ok(()) };
        let mut body = decode::<TransactionBody>(&key, &record.body)?;
        match body.phase {
            Phase::Fenced => {}
            Phase::Claiming | Phase::Executing => {
                let Some(death) = lease::death(estate, &body, &self.terms).await? else {
                    return Ok(());
                };
                self.make_fenced(&mut body, death);
                let bytes = encode(&key, &body)?;
                // Whoever was first lives, or has fenced it: seen when the claims are looked at again.
                if let Swapped::Lost(_) = swap(&*estate.store, &key, bytes, &record.version).await?
                {
                    return Ok(());
                }
            }
            Phase::Done | Phase::Rejected | Phase::Waiting => return Ok(()),
        }
        self.give_all_back(&key, &body, settler).await
    }

    /// Fences a transaction on which nobody works since `death`, seconds since the epoch.
    fn make_fenced(&self, body: &mut TransactionBody, death: i64) {
        body.quiet_from.insert(body.attempt, death + self.terms.margin);
        body.phase = Phase::Fenced;
        body.write_id = WriteId::new(&*self.estate.random);
    }

    /// Ends every claim of a fenced transaction, and takes it off the estate's list.
    async fn give_all_back(
        &self,
        key: &Key,
        body: &TransactionBody,
        settler: Option<&dyn Settler>,
    ) -> Result<(), TransactionError> {
        let (estate, dead) = (&self.estate, &body.plan);
        for _ in 0..ROUNDS {
            let reading = estate.read().await?;
            let open = open_claims(&reading, dead);
            if open.is_empty() {
                return self.strike_off(reading, dead).await;
            }
            for wave in waves(&reading, open) {
                let given_back: Vec<bool> = stream::iter(wave)
                    .map(|address| {
                        let reading = &reading;
                        async move { self.give_back(reading, &address, body, settler).await }
                    })
                    .buffer_unordered(self.terms.parallelism.max(1))
                    .try_collect()
                    .await?;
                // A source is not given back before its target: that is looked at again first.
                if given_back.contains(&false) {
                    break;
                }
            }
        }
        Err(EstateError::Contended { key: key.clone(), attempts: ROUNDS }.into())
    }

    /// Takes over a transaction of which a person says that nobody works on it any more, before its lease is over. Should
    /// somebody do all the same, it begins no further call, and results that come late are kept beside their records. No
    /// provider is asked: what was in flight is in doubt where it was a create, and makes plans stale that rest on it
    /// where it was not. Answers the instances whose creates are in doubt.
    ///
    /// # Errors
    /// Where it has ended, its process lives on this machine, or the store fails.
    pub async fn force_release(
        &self,
        plan: &PlanId,
    ) -> Result<Vec<ResourceInstance>, TransactionError> {
        let estate = &self.estate;
        let key = estate.keys.transaction(plan)?;
        let mut fenced = None;
        // A heartbeat writes it, too.
        for _ in 0..ROUNDS {
            let Some(record) = estate.store.get(&key).await? else { break };
            let mut body = decode::<TransactionBody>(&key, &record.body)?;
            match body.phase {
                Phase::Fenced => {}
                Phase::Claiming | Phase::Executing => {
                    if lease::is_held(estate, plan).await? {
                        return Err(TransactionError::AliveHere {
                            plan: plan.clone(),
                            holder: Holder::of(&body),
                        });
                    }
                    self.make_fenced(&mut body, estate.clock.seconds());
                    let bytes = encode(&key, &body)?;
                    match swap(&*estate.store, &key, bytes, &record.version).await? {
                        Swapped::Written(_) => {}
                        Swapped::Lost(_) => continue,
                    }
                }
                Phase::Done | Phase::Rejected | Phase::Waiting => {
                    return Err(TransactionError::NotAtWork {
                        plan: plan.clone(),
                        phase: body.phase,
                    });
                }
            }
            fenced = Some(body);
            break;
        }
        let Some(body) = fenced else {
            return Err(EstateError::Contended { key, attempts: ROUNDS }.into());
        };
        self.give_all_back(&key, &body, None).await?;
        let reading = estate.read().await?;
        let ours = |facts: &RecordFacts| {
            facts.doubt.as_ref().is_some_and(|doubt| doubt.transaction == *plan)
        };
        let doubted = reading.records.iter().filter(|(_, facts)| ours(facts));
        Ok(doubted.map(|(address, _)| address.clone()).collect())
    }

    /// Takes a transaction of which nothing is open off the estate's list.
    async fn strike_off(
        &self,
        reading: EstateReading,
        dead: &PlanId,
    ) -> Result<(), TransactionError> {
        let strike = |header: &mut EstateHeader| {
            if header.under_way.contains(dead) {
                header.serial += 1;
                header.under_way.retain(|other| other != dead);
            }
        };
        self.estate.change_header(reading.header, strike).await?;
        Ok(())
    }

    /// Settles what transactions had in flight that nobody can go on with, since they were fenced, or their plan has
    /// expired or was never saved, and that nobody has met since: on records that no plan touches any more. What cannot
    /// be settled now is left for the next one.
    pub(super) async fn settle_others(&self, settler: &dyn Settler) {
        let estate = &self.estate;
        for plan in self.header.under_way.iter().filter(|plan| **plan != self.plan) {
            let Ok(Some(body)) = estate.transaction(plan).await else { continue };
            let is_given_up = match body.phase {
                Phase::Fenced => true,
                Phase::Claiming | Phase::Executing => !body.can_go_on(estate.clock.seconds()),
                Phase::Done | Phase::Rejected | Phase::Waiting => false,
            };
            if is_given_up && let Err(error) = self.fence(plan, Some(settler)).await {
                tracing::warn!("what the plan {plan} left is not settled: {error}");
            }
        }
    }

    /// Transactions on the estate's list that have ended, or died without anything that is open. Those that may be
    /// tried again stay until their plan has expired. What cannot be found out now is left for the next one.
    pub(super) async fn finished_others(&self) -> Vec<PlanId> {
        let estate = &self.estate;
        let (mut finished, mut dead) = (Vec::new(), Vec::new());
        for plan in self.header.under_way.iter().filter(|plan| **plan != self.plan) {
            let Ok(Some(body)) = estate.transaction(plan).await else { continue };
            let is_dead = lease::is_dead(estate, &body, &self.terms).await.unwrap_or(false);
            match body.phase {
                Phase::Done | Phase::Rejected => finished.push(plan.clone()),
                Phase::Waiting if body.expires < estate.clock.seconds() => {
                    finished.push(plan.clone());
                }
                Phase::Claiming | Phase::Executing | Phase::Fenced if is_dead => dead.push(body),
                _ => {}
            }
        }
        if dead.is_empty() {
            return finished;
        }
        let Ok(reading) = estate.read().await else { return finished };
        for body in dead {
            let plan = body.plan.clone();
            if open_claims(&reading, &plan).is_empty() && self.bury(body).await.unwrap_or(false) {
                finished.push(plan);
            }
        }
        finished
    }

    /// Ends a dead transaction of which nothing is open, if nobody has gone on with it.
    async fn bury(&self, seen: TransactionBody) -> Result<bool, TransactionError> {
        let estate = &self.estate;
        let key = estate.keys.transaction(&seen.plan)?;
        let Some(record) = estate.store.get(&key).await? else { return Ok(true) };
        let mut body = decode::<TransactionBody>(&key, &record.body)?;
        if body != seen {
            return Ok(false);
        }
        body.phase = Phase::Fenced;
        body.write_id = WriteId::new(&*estate.random);
        let written = swap(&*estate.store, &key, encode(&key, &body)?, &record.version).await?;
        Ok(matches!(written, Swapped::Written(_)))
    }

    /// Ends one claim of a dead transaction, if its record is still as it was read; `false` where it was not.
    async fn give_back(
        &self,
        reading: &EstateReading,
        address: &ResourceInstance,
        dead: &TransactionBody,
        settler: Option<&dyn Settler>,
    ) -> Result<bool, TransactionError> {
        let Some(facts) = reading.records.get(address) else { return Ok(false) };
        let Some(claim) = &facts.claim else { return Ok(false) };
        let key = self.estate.keys.instance(address)?;
        let settled = match claim.state {
            ClaimState::Claimed | ClaimState::Done => None,
            ClaimState::Applying | ClaimState::Unfinished => {
                let recorded = reading.state.instances.get(address);
                let recorded = recorded.map(|s| (**s).clone()).unwrap_or_default();
                let in_flight = InFlight {
                    address: address.clone(),
                    claim: claim.clone(),
                    recorded,
                    quiet: dead.quiet_from.get(&claim.attempt).copied().unwrap_or_default(),
                };
                let settled = match (claim.provisioners, settler) {
                    // What was made is recorded, as tainted, and stays so.
                    (Some(ProvisionersStanding::Begun), _) => {
                        Settled::Known(Box::new(in_flight.recorded.clone()))
                    }
                    (_, Some(settler)) => settler.settle(&in_flight).await,
                    (_, None) => Settled::InDoubt,
                };
                if let Settled::NotNow(reason) = settled {
                    return Err(TransactionError::Unsettled {
                        address: Box::new(address.clone()),
                        run: dead.run.clone(),
                        principal: dead.principal.clone(),
                        reason,
                    });
                }
                Some((settled, in_flight.recorded))
            }
        };
        let Some(record) = self.estate.store.get(&key).await? else { return Ok(false) };
        if record.version != facts.version {
            return Ok(false);
        }
        let mut body = decode::<InstanceBody>(&key, &record.body)?;
        if let Some((settled, recorded)) = settled {
            self.settle(&key, &mut body, claim, settled, &recorded).await?;
        }
        if facts.is_void() {
            // Its object is at another record already.
            self.estate.put_objects(&key, &mut body, &InstanceState::default())?;
        }
        body.claim = None;
        self.put_body(&key, body, &record.version).await
    }

    async fn settle(
        &self,
        key: &Key,
        body: &mut InstanceBody,
        claim: &Claim,
        settled: Settled,
        recorded: &InstanceState,
    ) -> Result<(), TransactionError> {
        let estate = &self.estate;
        match settled {
            Settled::Known(state) if state.same_objects(recorded) => {}
            Settled::Known(state) => {
                let ours = self.lease.body().await;
                body.written_by = self.written_by_of(&ours);
                body.written_at = estate.clock.seconds();
                estate.put_objects(key, body, &state)?;
            }
            _ if claim.action == ClaimedAction::Create => {
                body.doubt = Some(Doubt {
                    transaction: claim.transaction.clone(),
                    object: claim.object.clone(),
                    since: estate.clock.seconds(),
                    token: claim.token.clone(),
                    unprovisioned: claim.provisioners.is_some(),
                });
            }
            // The object is known, and every plan reads it; what rests on what was recorded of it is stale.
            _ if body.kind == RecordKind::Live => body.revision = hexadecimal(&*estate.random),
            _ => {}
        }
        Ok(())
    }

    async fn put_body(
        &self,
        key: &Key,
        mut body: InstanceBody,
        expected: &Version,
    ) -> Result<bool, TransactionError> {
        body.write_id = WriteId::new(&*self.estate.random);
        // Whoever was first has settled it too, or has claimed it since.
        let written =
            swap_instance(&*self.estate.store, key, encode(key, &body)?, expected).await?;
        Ok(matches!(written, Swapped::Written(_)))
    }
}

/// Results stay as they are: the claim on them ends with its transaction.
fn open_claims(reading: &EstateReading, dead: &PlanId) -> Vec<ResourceInstance> {
    let open = |facts: &RecordFacts| {
        let claim = facts.claim.as_ref();
        claim.is_some_and(|c| c.transaction == *dead && c.state != ClaimState::Done)
    };
    let open = reading.records.iter().filter(|(_, facts)| open(facts));
    open.map(|(address, _)| address.clone()).collect()
}

/// Records in the order in which their claims may end: where an object is moved, the record that it leaves comes
/// after the one that it goes to, so that it is nowhere free to be taken while the other may still receive it.
fn waves(reading: &EstateReading, open: Vec<ResourceInstance>) -> Vec<Vec<ResourceInstance>> {
    let target = |address: &ResourceInstance| {
        let claim = reading.records.get(address)?.claim.as_ref()?;
        claim.moves_to.as_deref()?.parse::<ResourceInstance>().ok()
    };
    let (moved, mut waves) = {
        let (moved, first): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|address| target(address).is_some());
        (moved, vec![first])
    };
    let mut left: BTreeSet<ResourceInstance> = moved.into_iter().collect();
    while !left.is_empty() {
        let waits =
            |address: &&ResourceInstance| target(address).is_some_and(|t| left.contains(&t));
        let mut wave: BTreeSet<_> = left.iter().filter(|a| !waits(a)).cloned().collect();
        if wave.is_empty() {
            // No order is better than another.
            wave.clone_from(&left);
        }
        left.retain(|address| !wave.contains(address));
        waves.push(wave.into_iter().collect());
    }
    waves
}
