//! Stages: the named checks of a saved plan. What they come to is data.

mod authenticity;
mod comparison;
mod difference;
mod lineage;
mod records;
mod resources;
mod serial;
mod snapshot;
mod upstream;
mod waiver;

pub use authenticity::{AuthenticityFacts, authenticate};
pub use lineage::check_lineage;
pub use records::check_records;
pub(crate) use records::{busy, claims_in_the_way, doubtful, foreign_claims, moved};
pub use resources::{World, check_resources};
pub use serial::check_serial;
pub use snapshot::{check_snapshot, compare_snapshot};
pub use upstream::check_upstream;
pub use waiver::Waiver;

pub(crate) use authenticity::AuthenticityProof;
pub(crate) use comparison::Subject;

use crate::estate::EstateReading;
use crate::record::key::EstateName;
use crate::saved_plan::{AuthenticatedPlan, PlanVerifier, SavedPlan, SigningError, UnverifiedPlan};
use crate::transaction::Others;
use crate::verdict::{Outcome, Stage, Verdict};

/// What a saved plan is compared with.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Origin, time, configuration and providers.
    pub authenticity: AuthenticityFacts<'a>,
    /// The estate that the plan is to be applied to.
    pub estate: &'a EstateName,
    /// What its records say now, with the transactions that they name, or why they could not be read.
    pub records: Result<(&'a EstateReading, &'a Others), &'a str>,
    /// What the world says now.
    pub world: World<'a>,
    /// Findings that a person accepts.
    pub waivers: &'a [Waiver],
}

/// What all stages came to.
#[derive(Debug)]
pub struct Validation {
    /// One verdict or more of every stage, in the order of the stages.
    pub verdicts: Vec<Verdict>,
    /// The plan to apply; only where authenticity passed. Apply it only where [`Validation::passes`].
    pub plan: Option<AuthenticatedPlan>,
}

impl Validation {
    /// Whether nothing rejects the plan.
    pub fn passes(&self) -> bool {
        self.plan.is_some() && !self.verdicts.iter().any(Verdict::is_reject)
    }
}

/// Runs every stage and stops at none, so that a person sees all that is wrong at once. Changes nothing.
///
/// # Errors
/// Where the keeper of the key cannot be asked.
pub async fn validate_saved_plan(
    plan: UnverifiedPlan,
    verifier: &dyn PlanVerifier,
    facts: Facts<'_>,
) -> Result<Validation, SigningError> {
    let contents: SavedPlan = plan.contents_for_showing().clone();
    let mut verdicts = contents.snapshot.clone();
    if verdicts.is_empty() {
        let message = "the plan was saved without comparing two readings of the records";
        verdicts.push(Verdict::new(Stage::Snapshot, Outcome::NotChecked, message));
    }
    let (authenticity, plan) = authenticate(plan, verifier, &facts.authenticity).await?;
    verdicts.extend(authenticity);
    match facts.records {
        Ok((reading, others)) => {
            verdicts.extend(check_lineage(&contents, facts.estate, reading));
            verdicts.extend(check_serial(&contents, reading));
            verdicts.extend(check_records(&contents, reading, others));
        }
        Err(why) => verdicts.extend(unreadable(why)),
    }
    verdicts.extend(check_resources(&contents, facts.world, facts.waivers));
    verdicts.extend(check_upstream(&contents, facts.world, facts.waivers));
    Ok(Validation { verdicts, plan })
}

/// What the stages that look at records come to where those cannot be read.
fn unreadable(why: &str) -> [Verdict; 3] {
    let message = "the records could not be read";
    let not_checked = |stage| Verdict::new(stage, Outcome::NotChecked, message);
    let records = Verdict::new(Stage::Records, Outcome::Reject, format!("{message}: {why}"));
    let remedy =
        "see that they can be read where they are kept, then run `plumb validate -plan=FILE` again";
    [not_checked(Stage::Lineage), not_checked(Stage::Serial), records.remedy(remedy)]
}

/// The command that makes a plan anew.
pub(crate) const PLAN_AGAIN: &str = "make a new plan with `plumb plan -out=FILE`";
