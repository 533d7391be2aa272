//! Verifying: what the plan read is as it was, and nobody else is about to change it.
//!
//! Claims come first: of two transactions that each read what the other changes, at least one sees the other.

use super::others::{Fate, Others};
use super::{Settler, Transaction, TransactionError};
use crate::estate::EstateReading;
use crate::identifiers::PlanId;
use crate::saved_plan::SavedPlan;
use crate::stages::{check_records, claims_in_the_way};
use crate::verdict::Verdict;
use std::collections::BTreeSet;

impl Transaction {
    /// Compares the sets of a plan with the records, once the write set is claimed. Answers what was read, and the
    /// verdicts of the records stage: those that [`crate::stages::check_records`] gives without a claim.
    ///
    /// # Errors
    /// Where the store fails, or what a dead transaction left cannot be settled.
    pub async fn verify(
        &mut self,
        plan: &SavedPlan,
        settler: Option<&dyn Settler>,
    ) -> Result<(EstateReading, Vec<Verdict>), TransactionError> {
        loop {
            let (reading, others) = Others::with_reading(&self.estate, plan, &self.terms).await?;
            let mut dead = BTreeSet::<PlanId>::new();
            let mut waits = true;
            let mut any = false;
            for (_, claim) in claims_in_the_way(plan, &reading, &others) {
                any = true;
                match others.fate_of(claim) {
                    Fate::Ended => {}
                    Fate::Dead(body) => {
                        dead.insert(body.plan);
                    }
                    Fate::Alive(other) => waits &= self.gives_way(&other),
                }
            }
            for plan in &dead {
                self.fence(plan, settler).await?;
            }
            if !dead.is_empty() || (any && waits && self.wait_a_little().await) {
                continue;
            }
            let verdicts = check_records(plan, &reading, &others);
            return Ok((reading, verdicts));
        }
    }
}
