//! Applying: a saved plan in, changes out.

use crate::contract;
use crate::error::RunError;
use crate::source::{self, Source};
use crate::validate::read_world;
use crate::workplace::Workplace;
use engine::clock::moment;
use engine::estate::{EstateHeader, EstateReading, Spill};
use engine::identifiers::{Principal, RunId};
use engine::plan::Plan;
use engine::record::body::UNSAVED;
use engine::saved_plan::{ENGINE_VERSION, PlanVerifier, SavedPlan, UnverifiedPlan};
use engine::stages::{
    AuthenticityFacts, Waiver, World, authenticate, check_lineage, check_resources, check_serial,
    check_upstream,
};
use engine::transaction::{
    Begun, Progress, Transaction, TransactionRequest, is_only_busy, members,
};
use engine::verdict::Verdict;
use engine::{
    Applied, ApplyOptions, Deadline, Ending, ProviderSettler, StopCause, Unanswered, Variables,
};
use language::diagnostics::{Diagnostic, Diagnostics};
use std::sync::Arc;

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
    /// How far each change has come, with those of earlier invocations; empty where the plan was rejected.
    pub progress: Progress,
    /// What the configuration and the providers say.
    pub diagnostics: Diagnostics,
    /// What the stages came to.
    pub verdicts: Vec<Verdict>,
    /// The estate since.
    pub header: Option<EstateHeader>,
    /// What keeps the transaction from its end, where something does after all that could be done was done. The same
    /// plan, applied again, ends it.
    pub unended: Option<RunError>,
}

/// Checks a plan, and applies it where nothing rejects it. A plan that an earlier invocation has decided to apply
/// is not checked again: what is left of it is done.
///
/// # Errors
/// Where the plan, the key or the records cannot be read, or the transaction cannot begin. Where it cannot end, the
/// outcome says so beside all else that went wrong.
pub async fn apply(
    workplace: &Workplace,
    request: ApplyRequest<'_>,
) -> Result<ApplyOutcome, RunError> {
    let ApplyRequest { plan, run, principal, approved_by, deadline, ephemeral, waivers, spill } =
        request;
    let estate = &workplace.estate;
    let Admitted { mut saved, digest, mut verdicts, reread } = match plan {
        PlanToApply::InMemory { plan, paused } => {
            let verdicts = plan.snapshot.clone();
            // A plan that was never written down cannot be tried a second time.
            Admitted { saved: *plan, digest: UNSAVED.into(), verdicts, reread: paused }
        }
        PlanToApply::Saved { bytes, verifier } => {
            match admit(workplace, bytes, verifier, &run).await? {
                Ok(admitted) => *admitted,
                // Nothing is written for a plan that is not ours.
                Err(outcome) => return Ok(*outcome),
            }
        }
    };
    let (source, mut diagnostics) = source::from_bundle(&saved.bundle);
    if diagnostics.has_errors() {
        return Ok(ApplyOutcome { diagnostics, ..rejected(saved, verdicts) });
    }
    diagnostics.extend(contract::assert(workplace.contract.as_ref()).await?);
    let is_saved = digest != UNSAVED;
    let request = TransactionRequest {
        plan: saved.id.clone(),
        plan_digest: digest,
        expires: saved.expires,
        run,
        principal,
        approved_by,
        deadline,
        terms: workplace.terms,
    };
    let given = ephemeral.into_iter();
    let given = given.filter(|(name, _)| saved.ephemeral_variables.contains(name));
    let mut plan = saved.plan.clone();
    plan.variables.extend(given.map(|(name, given)| (name, given.value)));
    let plan = Arc::new(plan);
    let mut options =
        ApplyOptions { deadline, waivers: waivers.to_vec(), ..ApplyOptions::default() };
    let executing = match Transaction::begin(estate, request).await? {
        Begun::Decided(resumed) => {
            let executing = resumed.go_on(members(&saved), spill).await?;
            options.progressless_attempts = executing.attempts_without_progress().await;
            options.settle_not_before = executing.settle_not_before().await;
            options.resumed = Some(executing.progress());
            let records = executing.reading().records.iter();
            let doubted = records.filter(|(_, facts)| facts.doubt.is_some());
            options.in_doubt = doubted.map(|(address, _)| address.clone()).collect();
            executing
        }
        Begun::Undecided(mut transaction) => {
            transaction.waive(waivers.iter().map(ToString::to_string));
            let settler = settler(workplace, &source, &plan, deadline);
            let check = Check { workplace, saved: &saved, reread, waivers, settler };
            let checked = match check.run(&mut transaction).await {
                Ok(checked) => checked,
                Err(error) => {
                    // What is claimed is given back before the error is told, which is the first one.
                    let _ = transaction.put_off().await;
                    return Err(error);
                }
            };
            verdicts.extend(checked.verdicts);
            let passes = !verdicts.iter().any(Verdict::is_reject);
            let Some(reading) = checked.reading.filter(|_| passes) else {
                match is_only_busy(&verdicts) {
                    true => transaction.put_off().await?,
                    false => transaction.reject().await?,
                }
                let diagnostics = checked.diagnostics;
                return Ok(ApplyOutcome { diagnostics, ..rejected(saved, verdicts) });
            };
            transaction.execute(reading, spill).await?
        }
    };
    options.patience.attempts = workplace.terms.attempts_without_progress;
    let context = workplace.context();
    let (recorder, configuration) = (executing.recorder(), &source.configuration);
    let (mut applied, found) = context.apply(configuration, plan.clone(), recorder, options).await;
    diagnostics.extend(found);
    let mut is_left = applied.ending == Ending::Continue;
    if !is_left && let Err(unanswered) = context.outlast(&executing, deadline).await {
        is_left = true;
        match workplace.stop.cause() {
            Some(StopCause::Interrupt) => {
                applied.ending = Ending::Interrupted;
                diagnostics.push(left_open(workplace, &unanswered, is_saved));
            }
            Some(StopCause::Deadline) | None => applied.ending = Ending::Continue,
        }
    }
    let progress = executing.progress();
    let ended = match is_left {
        // Another invocation goes on from what is recorded.
        true => executing.pause().await.map(|_| None),
        // Whatever failed, the transaction ends: what was done is recorded, and the rest never began.
        false => {
            executing.settle_others(&settler(workplace, &source, &plan, deadline)).await;
            executing.commit().await.map(Some)
        }
    };
    let (header, unended) = match ended {
        Ok(header) => (header, None),
        Err(error) => (None, Some(error.into())),
    };
    saved.plan = Arc::unwrap_or_clone(plan);
    let applied = Some(applied);
    Ok(ApplyOutcome { plan: saved, applied, progress, diagnostics, verdicts, header, unended })
}

/// Who finds out what became of the calls of the dead.
fn settler(
    workplace: &Workplace,
    source: &Source,
    plan: &Arc<Plan>,
    deadline: Option<Deadline>,
) -> ProviderSettler {
    let configuration = source.configuration.clone();
    ProviderSettler::new(workplace.context(), configuration, plan.clone(), deadline)
}

/// That a person did not wait for what may still come to pass.
fn left_open(workplace: &Workplace, unanswered: &Unanswered, is_saved: bool) -> Diagnostic {
    let addresses = unanswered.addresses.iter().map(|address| format!("\n  - {address}"));
    let terms = &workplace.terms;
    // For as long others leave it to this plan.
    let others = moment(workplace.now() + terms.margin + terms.skew + 1);
    let remedy = match is_saved {
        true => format!(
            "Apply the same plan file again, which goes on with it; from {others} on, any other plan that changes them does as well"
        ),
        false => "Apply again: what came of it is found out first".to_owned(),
    };
    Diagnostic::error(
        "A change may still come to pass",
        format!(
            "The provider of these has ended without an answer, and what it was asked may still reach the world:{}\n\nThe apply was stopped before that can be known, and they stay claimed by it. {remedy}.",
            addresses.collect::<String>()
        ),
    )
}

/// A plan that may be applied, as far as it says itself.
struct Admitted {
    saved: SavedPlan,
    digest: String,
    verdicts: Vec<Verdict>,
    /// Whether the world has had time to move.
    reread: bool,
}

/// The authenticity stage; `Err` holds the outcome where it rejects.
async fn admit(
    workplace: &Workplace,
    bytes: &[u8],
    verifier: &dyn PlanVerifier,
    run: &RunId,
) -> Result<Result<Box<Admitted>, Box<ApplyOutcome>>, RunError> {
    let plan = UnverifiedPlan::parse(bytes)?;
    let contents = plan.contents_for_showing().clone();
    let transaction = Transaction::find(&workplace.estate, &contents.id).await?;
    let facts = AuthenticityFacts {
        now: workplace.now(),
        engine: ENGINE_VERSION,
        bundle_digest: None,
        providers: Some(&workplace.locked),
        transaction: transaction.as_ref(),
        run: Some(run),
    };
    let mut verdicts = contents.snapshot.clone();
    let (found, plan) = authenticate(plan, verifier, &facts).await?;
    verdicts.extend(found);
    Ok(match plan {
        None => Err(Box::new(rejected(contents, verdicts))),
        Some(plan) => {
            let digest = plan.digest().to_string();
            let saved = plan.into_contents();
            Ok(Box::new(Admitted { saved, digest, verdicts, reread: true }))
        }
    })
}

/// The stages under claim.
struct Check<'a> {
    workplace: &'a Workplace,
    saved: &'a SavedPlan,
    reread: bool,
    waivers: &'a [Waiver],
    settler: ProviderSettler,
}

/// What they came to.
struct Checked {
    /// What the records say; `None` where the write set could not be claimed.
    reading: Option<EstateReading>,
    verdicts: Vec<Verdict>,
    diagnostics: Diagnostics,
}

impl Check<'_> {
    /// Claims the write set, then looks at everything that the plan rests on.
    async fn run(self, transaction: &mut Transaction) -> Result<Checked, RunError> {
        let (workplace, saved, waivers) = (self.workplace, self.saved, self.waivers);
        let mut diagnostics = Diagnostics::new();
        let verdicts = transaction.claim(members(saved), Some(&self.settler)).await?;
        if !verdicts.is_empty() {
            return Ok(Checked { reading: None, verdicts, diagnostics });
        }
        let (reading, records) = transaction.verify(saved, Some(&self.settler)).await?;
        // Where the records reject, the world is not asked.
        let reread = self.reread && !records.iter().any(Verdict::is_reject);
        let world = match reread {
            true => Some(read_world(workplace, saved).await),
            false => None,
        };
        let read = world.as_ref().map_or(World::NotRead, |(world, _)| World::Read(world));
        let mut verdicts = check_lineage(saved, workplace.estate.name(), &reading);
        verdicts.extend(check_serial(saved, &reading));
        verdicts.extend(records);
        verdicts.extend(check_resources(saved, read, waivers));
        verdicts.extend(check_upstream(saved, read, waivers));
        if verdicts.iter().any(Verdict::is_reject) {
            diagnostics.extend(world.map(|(_, found)| found).unwrap_or_default());
        }
        Ok(Checked { reading: Some(reading), verdicts, diagnostics })
    }
}

impl ApplyOutcome {
    /// Whether time was up before everything was done: the same plan, applied again, goes on.
    pub fn is_to_be_continued(&self) -> bool {
        self.applied.as_ref().is_some_and(|applied| applied.ending == Ending::Continue)
    }
}

fn rejected(plan: SavedPlan, verdicts: Vec<Verdict>) -> ApplyOutcome {
    ApplyOutcome {
        plan,
        applied: None,
        progress: Progress::default(),
        diagnostics: Diagnostics::new(),
        verdicts,
        header: None,
        unended: None,
    }
}
