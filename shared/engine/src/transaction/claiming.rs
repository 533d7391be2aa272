//! Claiming: every member of the write set says who is about to change it, before anything is changed.

use super::others::{Fate, Others};
use super::{Member, Settler, Transaction, TransactionError};
use crate::estate::{EstateReading, Swapped, swap_instance};
use crate::identifiers::{PlanId, WriteId};
use crate::record::body::{
    Claim, ClaimState, ClaimedAction, InstanceBody, RecordKind, TransactionBody, decode, encode,
};
use crate::stages::{busy, doubtful, moved};
use crate::verdict::{RejectCode, Verdict};
use futures::stream::{self, StreamExt};
use records::{Key, Record, Version};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use values::address::ResourceInstance;

/// What came of claiming one record.
enum Outcome {
    Claimed,
    Refused(Box<Verdict>),
    /// Another transaction is still claiming, and will give way.
    Wait(Box<Verdict>),
    /// Another transaction died with a claim on it.
    Dead(PlanId),
    /// The plan saw no instance, and a record is there that a move may have made void.
    PerhapsVoid(Box<Verdict>),
}

impl Transaction {
    /// Claims the write set: one write for each member. The answer names every member that cannot be had;
    /// where it is empty, all are claimed.
    ///
    /// # Errors
    /// Where the store fails, a record would not fit into it, or what a dead transaction left cannot be settled.
    pub async fn claim(
        &mut self,
        members: BTreeMap<ResourceInstance, Member>,
        settler: Option<&dyn Settler>,
    ) -> Result<Vec<Verdict>, TransactionError> {
        self.members = Arc::new(members);
        let body = self.lease.body().await;
        let mut pending: Vec<(ResourceInstance, Member)> =
            self.members.iter().map(|(a, m)| (a.clone(), m.clone())).collect();
        let mut verdicts = Vec::new();
        let mut reading: Option<EstateReading> = None;
        while !pending.is_empty() {
            let outcomes: Vec<_> = stream::iter(pending)
                .map(|(address, member)| {
                    let (this, body, reading) = (&*self, &body, reading.as_ref());
                    async move {
                        let outcome = this.claim_one(&address, &member, body, reading).await?;
                        Ok::<_, TransactionError>(((address, member), outcome))
                    }
                })
                .buffer_unordered(self.terms.parallelism.max(1))
                .collect()
                .await;
            pending = Vec::new();
            let mut waiting = Vec::new();
            let mut dead = Vec::new();
            let mut void = false;
            for outcome in outcomes {
                let (one, outcome) = outcome?;
                match outcome {
                    Outcome::Claimed => continue,
                    Outcome::Refused(verdict) => {
                        verdicts.push(*verdict);
                        continue;
                    }
                    Outcome::PerhapsVoid(verdict) if reading.is_some() => {
                        verdicts.push(*verdict);
                        continue;
                    }
                    Outcome::PerhapsVoid(_) => void = true,
                    Outcome::Wait(verdict) => waiting.push(*verdict),
                    Outcome::Dead(plan) if dead.contains(&plan) => {}
                    Outcome::Dead(plan) => dead.push(plan),
                }
                pending.push(one);
            }
            if !verdicts.is_empty() {
                break;
            }
            if void {
                reading = Some(self.estate.read().await?);
            }
            for plan in dead {
                self.fence(&plan, settler).await?;
            }
            if !waiting.is_empty() && !self.wait_a_little().await {
                return Ok(waiting);
            }
        }
        verdicts.sort_by(|a, b| a.address.cmp(&b.address));
        Ok(verdicts)
    }

    async fn claim_one(
        &self,
        address: &ResourceInstance,
        member: &Member,
        ours: &TransactionBody,
        reading: Option<&EstateReading>,
    ) -> Result<Outcome, TransactionError> {
        let estate = &self.estate;
        let key = estate.keys.instance(address)?;
        let mut found = estate.store.get(&key).await?;
        loop {
            let (mut body, version) = self.found_or_shell(&key, address, found, ours)?;
            if let Some(claim) = &body.claim
                && claim.transaction != ours.plan
            {
                match Others::fate(estate, claim, &self.terms).await? {
                    Fate::Ended => {}
                    Fate::Dead(_) => return Ok(Outcome::Dead(claim.transaction.clone())),
                    Fate::Alive(other) => {
                        let verdict = Box::new(busy(address, claim, &other));
                        return Ok(match self.gives_way(&other) {
                            true => Outcome::Wait(verdict),
                            false => Outcome::Refused(verdict),
                        });
                    }
                }
            }
            if let Some(doubt) = &body.doubt {
                return Ok(Outcome::Refused(Box::new(doubtful(address, doubt))));
            }
            let revision = match body.kind {
                RecordKind::Live => body.revision.as_str(),
                RecordKind::Shell | RecordKind::Tombstone => "",
            };
            if revision != &*member.revision.0 {
                let void = reading.is_some_and(|r| r.version_and_revision(address).1.0.is_empty());
                let verdict = moved(
                    address,
                    &member.revision.0,
                    revision,
                    version.is_absent(),
                    &body.written_by,
                );
                let perhaps = member.revision.0.is_empty();
                match verdict.map(Box::new) {
                    Some(verdict) if perhaps && !void => return Ok(Outcome::PerhapsVoid(verdict)),
                    Some(verdict) if !perhaps => return Ok(Outcome::Refused(verdict)),
                    _ => {}
                }
            }
            if let Some(own) = body.claim.as_ref().filter(|c| c.transaction == ours.plan)
                && own.attempt == ours.attempt
            {
                return Ok(Outcome::Claimed);
            }
            // A claim of an earlier attempt is written again: others may have counted it as ended, and that attempt
            // may still take it back.
            body.claim = Some(claim(member, ours));
            body.write_id = WriteId::new(&*estate.random);
            let bytes = encode(&key, &body)?;
            // What only goes may be as large as it is: nothing comes back.
            if !matches!(member.action, ClaimedAction::Delete | ClaimedAction::Forget) {
                estate.store.check_claim_size(&key, &bytes)?;
            }
            match swap_instance(&*estate.store, &key, bytes, &version).await? {
                Swapped::Written(_) => return Ok(Outcome::Claimed),
                Swapped::Lost(now) => found = now,
            }
        }
    }

    fn found_or_shell(
        &self,
        key: &Key,
        address: &ResourceInstance,
        found: Option<Record>,
        ours: &TransactionBody,
    ) -> Result<(InstanceBody, Version), TransactionError> {
        Ok(match found {
            Some(record) => (decode::<InstanceBody>(key, &record.body)?, record.version),
            None => (self.estate.shell(address, self.written_by_of(ours)), Version::absent()),
        })
    }

    /// Whether another transaction, which is still claiming, leaves its claims when it meets ours: of two
    /// that meet, the smaller plan waits and the larger gives up, so that one of them goes on.
    pub(super) fn gives_way(&self, other: &TransactionBody) -> bool {
        other.phase == crate::record::body::Phase::Claiming && self.plan < other.plan
    }

    /// Waits for a moment, unless all of the time for waiting is spent.
    pub(super) async fn wait_a_little(&mut self) -> bool {
        let most = Duration::from_secs(self.terms.wait_for_busy.unsigned_abs());
        if self.waited >= most {
            return false;
        }
        let mut jitter = [0; 1];
        self.estate.random.fill(&mut jitter);
        let pause = Duration::from_millis(50 + u64::from(jitter[0])).min(most);
        self.estate.clock.sleep(pause).await;
        self.waited += pause;
        true
    }

    /// Takes back every claim of a transaction that has changed nothing, after its record has said so: an invocation
    /// that was suspended is refused there. Claims of a later attempt are not ours to take. What fails stays: a claim
    /// ends with its transaction, whatever its record says.
    pub(super) async fn strip(&self, attempt: u32) {
        let plan = &self.plan;
        let members: Vec<ResourceInstance> = self.members.keys().cloned().collect();
        stream::iter(members)
            .for_each_concurrent(self.terms.parallelism.max(1), |address| async move {
                let stripped = self
                    .estate
                    .amend(&address, |body| {
                        let ours = body
                            .claim
                            .as_ref()
                            .is_some_and(|c| c.transaction == *plan && c.attempt <= attempt);
                        ours.then(|| body.claim = None).is_some()
                    })
                    .await;
                if let Err(error) = stripped {
                    tracing::warn!("the claim on {address} could not be taken back: {error}");
                }
            })
            .await;
    }
}

fn claim(member: &Member, ours: &TransactionBody) -> Claim {
    Claim {
        transaction: ours.plan.clone(),
        attempt: ours.attempt,
        object: member.object.clone(),
        action: member.action,
        state: ClaimState::Claimed,
        dependencies: member.dependencies.clone(),
        token: None,
        import_identity: None,
        provisioners: None,
        started: None,
        put_aside: None,
        moves_to: member.moves_to.as_ref().map(ToString::to_string),
        begun: false,
        failed: false,
    }
}

/// Whether every rejection among the verdicts passes with time, so that the same plan may be tried again.
pub fn is_only_busy(verdicts: &[Verdict]) -> bool {
    let mut rejects = verdicts.iter().filter(|verdict| verdict.is_reject()).peekable();
    rejects.peek().is_some() && rejects.all(|verdict| verdict.code == Some(RejectCode::Busy))
}
