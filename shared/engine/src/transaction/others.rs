//! Other transactions: whether what they claimed is theirs still.

use super::{Terms, lease};
use crate::estate::{Estate, EstateError, EstateReading};
use crate::identifiers::PlanId;
use crate::record::body::{Claim, ClaimState, Phase, TransactionBody, decode};
use crate::saved_plan::SavedPlan;
use crate::stages::foreign_claims;
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet};

/// How many transactions are asked for at once.
const PARALLELISM: usize = 16;

/// What has become of the transaction that a claim names.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It has ended, and its claims with it.
    Ended,
    /// It is at work.
    Alive(Box<TransactionBody>),
    /// Whoever worked on it is gone, and what it had in flight is not settled.
    Dead(Box<TransactionBody>),
}

/// The transactions that records name and that are under way, as they say themselves.
#[derive(Clone, Debug, Default)]
pub struct Others {
    found: BTreeMap<PlanId, (TransactionBody, bool)>,
    /// Whether no transaction has begun or ended since the reading began.
    held_still: bool,
}

impl Others {
    /// Asks after each transaction that claims a record of the reading: one request each, and one for the estate's
    /// list. Whoever has a claim was on the list before; so who is not on it now has ended.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn of(
        estate: &Estate,
        reading: &EstateReading,
        terms: &Terms,
    ) -> Result<Others, EstateError> {
        let Some(before) = &reading.header else { return Ok(Others::default()) };
        let Some(header) = estate.read_header().await? else { return Ok(Others::default()) };
        let claiming: BTreeSet<&PlanId> = reading
            .records
            .values()
            .filter_map(|f| f.claim.as_ref())
            .map(|c| &c.transaction)
            .collect();
        let under_way: Vec<PlanId> =
            header.under_way.iter().filter(|plan| claiming.contains(plan)).cloned().collect();
        let found: Vec<Option<(PlanId, (TransactionBody, bool))>> = stream::iter(under_way)
            .map(|plan| async move {
                let Some(body) = estate.transaction(&plan).await? else { return Ok(None) };
                let dead = lease::is_dead(estate, &body, terms).await?;
                Ok::<_, EstateError>(Some((plan, (body, dead))))
            })
            .buffer_unordered(PARALLELISM)
            .try_collect()
            .await?;
        let held_still = header.serial == before.serial;
        Ok(Others { found: found.into_iter().flatten().collect(), held_still })
    }

    /// Reads the records for judging a plan by them. A claim that turns out to have ended says that its record may
    /// have been written since it was read: then all is read again, until no claim has ended in between.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn with_reading(
        estate: &Estate,
        plan: &SavedPlan,
        terms: &Terms,
    ) -> Result<(EstateReading, Others), EstateError> {
        let mut known = BTreeSet::<PlanId>::new();
        loop {
            let reading = estate.read().await?;
            let others = Others::of(estate, &reading, terms).await?;
            let mut again = false;
            for (_, claim) in foreign_claims(plan, &reading) {
                let ended = others.fate_of(claim) == Fate::Ended;
                // On no list, and nobody has come or gone meanwhile: it ended before the records were read.
                let long_ago = others.held_still && !others.found.contains_key(&claim.transaction);
                again |= ended && !long_ago && known.insert(claim.transaction.clone());
            }
            if !again {
                return Ok((reading, others));
            }
        }
    }

    /// What has become of a claim.
    pub fn fate_of(&self, claim: &Claim) -> Fate {
        match self.found.get(&claim.transaction) {
            None => Fate::Ended,
            Some((body, dead)) => fate(claim, body, *dead),
        }
    }

    /// The same for one claim, asked of the store now.
    pub(super) async fn fate(
        estate: &Estate,
        claim: &Claim,
        terms: &Terms,
    ) -> Result<Fate, EstateError> {
        let Some(body) = estate.transaction(&claim.transaction).await? else {
            return Ok(Fate::Ended);
        };
        let dead = match body.phase {
            Phase::Claiming | Phase::Executing => lease::is_dead(estate, &body, terms).await?,
            _ => false,
        };
        Ok(fate(claim, &body, dead))
    }
}

fn fate(claim: &Claim, body: &TransactionBody, dead: bool) -> Fate {
    match body.phase {
        Phase::Done | Phase::Rejected | Phase::Waiting => Fate::Ended,
        // Results stay. What was to do ends by a write alone: what changes a record and asks no provider asks no
        // lease either, and only a written record refuses it.
        Phase::Fenced => match claim.state {
            ClaimState::Done => Fate::Ended,
            _ => Fate::Dead(Box::new(body.clone())),
        },
        Phase::Claiming | Phase::Executing if dead => Fate::Dead(Box::new(body.clone())),
        Phase::Claiming | Phase::Executing => Fate::Alive(Box::new(body.clone())),
    }
}

impl Estate {
    /// What the store says of a plan's transaction; `None` where the plan was never used, or where that was so
    /// long ago that nobody can use it again.
    ///
    /// # Errors
    /// Where the store fails or the record cannot be read.
    pub async fn transaction(&self, plan: &PlanId) -> Result<Option<TransactionBody>, EstateError> {
        let key = self.keys.transaction(plan)?;
        match self.store.get(&key).await? {
            None => Ok(None),
            Some(record) => Ok(Some(decode(&key, &record.body)?)),
        }
    }
}
