//! Validating: a saved plan in, verdicts out. Nothing is changed.

use crate::error::RunError;
use crate::source;
use crate::workplace::Workplace;
use engine::identifiers::PlanId;
use engine::plan::RefreshedInstance;
use engine::saved_plan::{ENGINE_VERSION, PlanVerifier, SavedPlan, UnverifiedPlan};
use engine::stages::{AuthenticityFacts, Facts, Waiver, World, validate_saved_plan};
use engine::transaction::{Others, Transaction, TransactionError};
use engine::verdict::Verdict;
use language::diagnostics::Diagnostics;
use std::collections::BTreeMap;
use values::address::ResourceInstance;

/// What the stages of a plan came to.
#[derive(Clone, Debug)]
pub struct ValidateOutcome {
    /// The plan, as it calls itself.
    pub plan: PlanId,
    /// One verdict or more of every stage.
    pub verdicts: Vec<Verdict>,
    /// What providers said while the world was read.
    pub diagnostics: Diagnostics,
    /// Whether it could be applied.
    pub passes: bool,
}

/// Runs every stage on a saved plan.
///
/// # Errors
/// Where the plan, the records or the key cannot be read.
pub async fn validate(
    workplace: &Workplace,
    bytes: &[u8],
    verifier: &dyn PlanVerifier,
    waivers: &[Waiver],
) -> Result<ValidateOutcome, RunError> {
    let plan = UnverifiedPlan::parse(bytes)?;
    let id = plan.contents_for_showing().id.clone();
    // Whoever cannot read the records still learns what the other stages say.
    let read = async {
        let estate = &workplace.estate;
        let transaction = Transaction::find(estate, &id).await?;
        let saved = plan.contents_for_showing();
        let records = Others::with_reading(estate, saved, &workplace.terms).await?;
        Ok::<_, TransactionError>((transaction, records))
    };
    let (transaction, records) = match read.await {
        Ok((transaction, records)) => (transaction, Ok(records)),
        Err(error) => (None, Err(error.to_string())),
    };
    let genuine = verifier.verify(plan.digest(), plan.signature()).await?;
    // Providers are never started with the configuration of a plan that is not ours.
    let world = match genuine {
        true => Some(read_world(workplace, plan.contents_for_showing()).await),
        false => None,
    };
    let facts = Facts {
        authenticity: AuthenticityFacts {
            now: workplace.now(),
            engine: ENGINE_VERSION,
            bundle_digest: None,
            providers: Some(&workplace.locked),
            transaction: transaction.as_ref(),
            run: None,
        },
        estate: workplace.estate.name(),
        records: records
            .as_ref()
            .map(|(reading, others)| (reading, others))
            .map_err(String::as_str),
        world: world.as_ref().map_or(World::NotRead, |(world, _)| World::Read(world)),
        waivers,
    };
    let validation = validate_saved_plan(plan, verifier, facts).await?;
    let passes = validation.passes();
    let diagnostics = world.map(|(_, diagnostics)| diagnostics).unwrap_or_default();
    Ok(ValidateOutcome { plan: id, verdicts: validation.verdicts, diagnostics, passes })
}

pub(crate) type ReadWorld = (BTreeMap<ResourceInstance, RefreshedInstance>, Diagnostics);

/// Reads what a plan rests on from the world.
pub(crate) async fn read_world(workplace: &Workplace, saved: &SavedPlan) -> ReadWorld {
    let (source, mut diagnostics) = source::from_bundle(&saved.bundle);
    if diagnostics.has_errors() {
        return (BTreeMap::new(), diagnostics);
    }
    let addresses = saved.read_again();
    if addresses.is_empty() {
        return (BTreeMap::new(), diagnostics);
    }
    let context = workplace.unobserved();
    let (world, found) = context.read_world(&source.configuration, &saved.plan, &addresses).await;
    diagnostics.extend(found);
    (world, diagnostics)
}
