//! Edits: changes of records that a person asks for and that need no provider, each a transaction of its own.

use crate::contract::{self, ContractTerms};
use crate::error::RunError;
use async_trait::async_trait;
use engine::editing::{EditError, Edits};
use engine::estate::{Estate, EstateReading};
use engine::identifiers::{PlanId, Principal, RunId};
use engine::record::body::UNSAVED;
use engine::recorder::RecordError;
use engine::transaction::{
    Begun, InFlight, Settled, Settler, Terms, Transaction, TransactionError, TransactionRequest,
    is_only_busy,
};
use engine::verdict::Verdict;
use language::diagnostics::Diagnostic;

/// How often the records may move between what was decided and the claims, before we give up.
const ATTEMPTS: u32 = 3;

/// Where records are edited, and for whom.
pub struct Editor<'a> {
    /// The estate.
    pub estate: &'a Estate,
    /// What its store has to guarantee.
    pub contract: Option<&'a ContractTerms>,
    /// The times and numbers that transactions go by.
    pub terms: Terms,
    /// Who asks for it.
    pub principal: Principal,
}

/// What came of an edit.
#[derive(Debug)]
pub struct Edited<T> {
    /// What was decided, as whoever decided tells it.
    pub told: T,
    /// What the store's contract says.
    pub warnings: Vec<Diagnostic>,
    /// What could not be recorded.
    pub errors: Vec<RecordError>,
}

/// Records are not edited, since others are at work on them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditRefusal {
    /// Another run works on them.
    #[error(
        "{}. Nothing was changed: run the same command again once that run has ended. If it has died, it is taken over as soon \
         as its lease has run out; `plumb force-release PLAN` ends that at once",
        list(.0)
    )]
    Busy(Vec<Verdict>),
    /// They may not be all there is.
    #[error("{}. Nothing was changed", list(.0))]
    Rejected(Vec<Verdict>),
    /// They were changed each time.
    #[error(
        "other runs changed these records {ATTEMPTS} times while they were being claimed: {}. Nothing was changed; run the same \
         command again",
        list(.0)
    )]
    Contended(Vec<Verdict>),
}

fn list(verdicts: &[Verdict]) -> String {
    let rejects = verdicts.iter().filter(|verdict| verdict.is_reject());
    let lines = rejects.map(|verdict| {
        let address = verdict.address.as_deref().map(|address| format!("{address}: "));
        let remedy = verdict.remedy.as_deref().filter(|_| !is_only_busy(verdicts));
        let remedy = remedy.map(|remedy| format!(" ({remedy})"));
        format!("{}{}{}", address.unwrap_or_default(), verdict.message, remedy.unwrap_or_default())
    });
    match lines.collect::<Vec<_>>() {
        none if none.is_empty() => "there are others than before".to_owned(),
        lines => lines.join("; "),
    }
}

/// What one attempt came to.
enum Attempt {
    Done(Vec<RecordError>),
    /// The records are not what was decided on any more.
    Moved(Vec<Verdict>),
    Refused(EditRefusal),
}

impl Editor<'_> {
    /// Decides what to do by what the records say, claims them, decides again, and does it. `decide` answers what is told, and the
    /// edits; without any nothing is written.
    ///
    /// # Errors
    /// Those of `decide`; where others work on the records; where the store is refused or fails.
    pub async fn edit<T>(
        &self,
        decide: impl Fn(&EstateReading) -> Result<(T, Edits), EditError>,
    ) -> Result<Edited<T>, RunError> {
        let mut warnings = None;
        for attempt in 1.. {
            let reading = self.estate.read().await?;
            let (told, edits) = decide(&reading)?;
            if edits.is_empty() {
                let warnings = warnings.unwrap_or_default();
                return Ok(Edited { told, warnings, errors: Vec::new() });
            }
            if warnings.is_none() {
                warnings = Some(contract::assert(self.contract).await?);
            }
            let again = |reading: &EstateReading| decide(reading).is_ok_and(|(_, e)| e == edits);
            match self.attempt(&reading, &edits, again).await? {
                Attempt::Done(errors) => {
                    return Ok(Edited { told, warnings: warnings.unwrap_or_default(), errors });
                }
                Attempt::Moved(_) if attempt < ATTEMPTS => {}
                Attempt::Moved(verdicts) => return Err(EditRefusal::Contended(verdicts).into()),
                Attempt::Refused(refusal) => return Err(refusal.into()),
            }
        }
        Err(EditRefusal::Contended(Vec::new()).into())
    }

    async fn attempt(
        &self,
        reading: &EstateReading,
        edits: &Edits,
        again: impl Fn(&EstateReading) -> bool,
    ) -> Result<Attempt, RunError> {
        let mut transaction = self.begin().await?;
        let plan = edits.as_plan(transaction.plan().clone(), self.estate, reading);
        let checked = async {
            let mut verdicts =
                transaction.claim(edits.members(reading), Some(&NobodyToAsk)).await?;
            if !verdicts.is_empty() {
                return Ok((None, verdicts));
            }
            let (now, found) = transaction.verify(&plan, Some(&NobodyToAsk)).await?;
            verdicts.extend(found);
            let holds = !verdicts.iter().any(Verdict::is_reject) && again(&now);
            Ok::<_, TransactionError>((holds.then_some(now), verdicts))
        };
        match checked.await {
            Ok((Some(now), _)) => {
                let executing = transaction.execute(now, None).await?;
                let errors = edits.carry_out(&executing).await;
                executing.commit().await?;
                Ok(Attempt::Done(errors))
            }
            Ok((None, verdicts)) => {
                transaction.reject().await?;
                Ok(refused(verdicts))
            }
            Err(error) => {
                // What is claimed is given back before the error is told, which is the first one.
                let _ = transaction.reject().await;
                Err(error.into())
            }
        }
    }

    /// A transaction of a plan that nobody can try again.
    pub(crate) async fn begin(&self) -> Result<Transaction, RunError> {
        let random = &*self.estate.random();
        let plan = PlanId::new(random);
        let request = TransactionRequest {
            plan: plan.clone(),
            plan_digest: UNSAVED.into(),
            // For as long as a request of it may be on its way.
            expires: self.estate.now() + self.terms.lease + self.terms.margin + self.terms.skew,
            run: RunId::new(random),
            principal: self.principal.clone(),
            approved_by: None,
            deadline: None,
            terms: self.terms,
        };
        match Transaction::begin(self.estate, request).await? {
            Begun::Undecided(transaction) => Ok(*transaction),
            // Its name is new: somebody else has it.
            Begun::Decided(_) => Err(TransactionError::TakenOver { plan }.into()),
        }
    }
}

fn refused(verdicts: Vec<Verdict>) -> Attempt {
    use engine::verdict::RejectCode;
    let rejects = || verdicts.iter().filter(|verdict| verdict.is_reject());
    if is_only_busy(&verdicts) {
        return Attempt::Refused(EditRefusal::Busy(verdicts));
    }
    match rejects().all(|verdict| verdict.code == Some(RejectCode::Stale)) {
        true => Attempt::Moved(verdicts),
        false => Attempt::Refused(EditRefusal::Rejected(verdicts)),
    }
}

/// Edits start no provider: what a dead run had in flight is left to an apply, which asks.
struct NobodyToAsk;

#[async_trait]
impl Settler for NobodyToAsk {
    async fn settle(&self, _: &InFlight) -> Settled {
        Settled::NotNow(
            "this command starts no provider that could be asked; `plumb apply` does".to_owned(),
        )
    }
}
