//! Applying: a saved plan in, changes out.

use crate::error::RunError;
use crate::source;
use crate::validate::{ReadWorld, read_world};
use crate::workplace::Workplace;
use engine::estate::{EstateHeader, EstateReading, Spill};
use engine::identifiers::{Principal, RunId};
use engine::saved_plan::{DEFAULT_EXPIRY, ENGINE_VERSION, PlanVerifier, SavedPlan, UnverifiedPlan};
use engine::stages::{
    AuthenticityFacts, Waiver, World, authenticate, check_lineage, check_records, check_resources,
    check_serial, check_upstream,
};
use engine::transaction::{Transaction, TransactionError, TransactionRequest};
use engine::verdict::{RejectCode, Verdict};
use engine::{Applied, ApplyOptions, Deadline, Ending, Variables};
use language::diagnostics::Diagnostics;
use std::sync::Arc;

/// How long a lease is taken for where there is no deadline, in seconds.
const LEASE: i64 = 15 * 60;

/// The plan to apply.
pub enum PlanToApply<'a> {
    /// A saved plan, of which nothing is believed but what the verifier confirms.
    Saved {
        /// The file.
        bytes: &'a [u8],
        /// Who knows our plans.
        verifier: &'a dyn PlanVerifier,
    },
    /// A plan that this process has just made.
    InMemory {
        /// The plan.
        plan: Box<SavedPlan>,
        /// Whether the world had time to move since, while a person was asked.
        paused: bool,
    },
}

/// What to apply, and for whom.
pub struct ApplyRequest<'a> {
    /// The plan.
    pub plan: PlanToApply<'a>,
    /// The run.
    pub run: RunId,
    /// Who started it.
    pub principal: Principal,
    /// Who approved it.
    pub approved_by: Option<Principal>,
    /// When this invocation must have answered; what it cannot begin by then is left to another.
    pub deadline: Option<Deadline>,
    /// Values of the plan's ephemeral variables, which it does not carry.
    pub ephemeral: Variables,
    /// Findings that a person accepts.
    pub waivers: &'a [Waiver],
    /// Where results go that the store does not take.
    pub spill: Option<Arc<dyn Spill>>,
}

/// What an apply came to.
#[derive(Debug)]
pub struct ApplyOutcome {
    /// The plan that was applied, for whoever shows it.
    pub plan: SavedPlan,
    /// What was done; `None` where the plan was rejected and nothing was changed.
    pub applied: Option<Applied>,
    /// What the configuration and the providers say.
    pub diagnostics: Diagnostics,
    /// What the stages came to.
    pub verdicts: Vec<Verdict>,
    /// The estate since.
    pub header: Option<EstateHeader>,
}

/// Checks a plan, and applies it where nothing rejects it.
///
/// # Errors
/// Where the plan, the key or the records cannot be read, or the transaction cannot begin or end. What
/// was done before is recorded.
pub async fn apply(
    workplace: &Workplace,
    request: ApplyRequest<'_>,
) -> Result<ApplyOutcome, RunError> {
    let ApplyRequest { plan, run, principal, approved_by, deadline, ephemeral, waivers, spill } =
        request;
    let estate = &workplace.estate;
    let (mut saved, plan_digest, mut verdicts, reread) = match plan {
        PlanToApply::InMemory { plan, paused } => {
            let verdicts = plan.snapshot.clone();
            // A plan that was never written down cannot be tried a second time.
            (*plan, "unsaved".to_owned(), verdicts, paused)
        }
        PlanToApply::Saved { bytes, verifier } => {
            let plan = UnverifiedPlan::parse(bytes)?;
            let contents = plan.contents_for_showing().clone();
            let transaction = Transaction::find(estate, &contents.id).await?;
            let facts = AuthenticityFacts {
                now: workplace.now(),
                engine: ENGINE_VERSION,
                bundle_digest: None,
                providers: Some(&workplace.locked),
                transaction: transaction.as_ref(),
                run: Some(&run),
            };
            let mut verdicts = contents.snapshot.clone();
            let (found, plan) = authenticate(plan, verifier, &facts).await?;
            verdicts.extend(found);
            match plan {
                // Nothing is written for a plan that is not ours.
                None => return Ok(rejected(contents, verdicts)),
                Some(plan) => {
                    let digest = plan.digest().to_string();
                    (plan.into_contents(), digest, verdicts, true)
                }
            }
        }
    };
    let known = EstateReading { header: estate.read_header().await?, ..EstateReading::default() };
    let request = TransactionRequest {
        plan: saved.id.clone(),
        plan_digest,
        run,
        principal,
        approved_by,
        lease_until: deadline.map_or_else(|| workplace.now() + LEASE, |d| d.end.as_second()),
    };
    let transaction = Transaction::begin(estate, request, &known).await?;
    // Read after the plan was entered: of two that conflict at least one sees the other.
    let reading = estate.read().await?;
    let world = match reread {
        true => Some(read_world(workplace, &saved).await),
        false => None,
    };
    verdicts.extend(verify(workplace, &saved, &reading, world.as_ref(), waivers));
    if verdicts.iter().any(Verdict::is_reject) {
        give_up(transaction, &verdicts).await?;
        let diagnostics = world.map(|(_, found)| found).unwrap_or_default();
        return Ok(ApplyOutcome { diagnostics, ..rejected(saved, verdicts) });
    }
    let (source, mut diagnostics) = source::from_bundle(&saved.bundle);
    if diagnostics.has_errors() {
        transaction.put_off().await?;
        return Ok(ApplyOutcome { diagnostics, ..rejected(saved, verdicts) });
    }
    let executing = transaction.execute(reading, spill).await?;
    let mut plan = saved.plan.clone();
    let given = ephemeral.into_iter().filter(|(name, _)| saved.ephemeral_variables.contains(name));
    plan.variables.extend(given.map(|(name, given)| (name, given.value)));
    let plan = Arc::new(plan);
    let recorder = executing.recorder();
    let options = ApplyOptions { deadline, waivers: waivers.to_vec(), ..ApplyOptions::default() };
    let context = workplace.context();
    let (applied, found) =
        context.apply(&source.configuration, plan.clone(), recorder, options).await;
    diagnostics.extend(found);
    let header = match applied.ending {
        // Another invocation goes on from what is recorded.
        Ending::Continue => None,
        // Whatever failed, the transaction ends: what was done is recorded, and the rest never began.
        Ending::Done | Ending::Interrupted => Some(executing.commit(DEFAULT_EXPIRY).await?),
    };
    saved.plan = Arc::unwrap_or_clone(plan);
    Ok(ApplyOutcome { plan: saved, applied: Some(applied), diagnostics, verdicts, header })
}

impl ApplyOutcome {
    /// Whether time was up before everything was done: the same plan, applied again, goes on.
    pub fn is_to_be_continued(&self) -> bool {
        self.applied.as_ref().is_some_and(|applied| applied.ending == Ending::Continue)
    }
}

fn verify(
    workplace: &Workplace,
    saved: &SavedPlan,
    reading: &EstateReading,
    world: Option<&ReadWorld>,
    waivers: &[Waiver],
) -> Vec<Verdict> {
    let world = world.map_or(World::NotRead, |(world, _)| World::Read(world));
    let mut verdicts = check_lineage(saved, workplace.estate.name(), reading);
    verdicts.extend(check_serial(saved, reading));
    verdicts.extend(check_records(saved, reading));
    verdicts.extend(check_resources(saved, world, waivers));
    verdicts.extend(check_upstream(saved, world, waivers));
    verdicts
}

/// A plan that is only busy may be tried again; any other rejection is final.
async fn give_up(transaction: Transaction, verdicts: &[Verdict]) -> Result<(), TransactionError> {
    let rejects = verdicts.iter().filter(|verdict| verdict.is_reject());
    let busy = rejects.clone().all(|verdict| verdict.code == Some(RejectCode::Busy));
    match busy {
        true => transaction.put_off().await,
        false => transaction.reject().await,
    }
}

fn rejected(plan: SavedPlan, verdicts: Vec<Verdict>) -> ApplyOutcome {
    ApplyOutcome { plan, applied: None, diagnostics: Diagnostics::new(), verdicts, header: None }
}
