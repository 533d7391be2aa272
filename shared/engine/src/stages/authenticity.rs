use super::PLAN_AGAIN;
use crate::identifiers::RunId;
use crate::record::body::{Phase, TransactionBody};
use crate::saved_plan::{
    AuthenticatedPlan, LockedProvider, PlanVerifier, SavedPlan, SigningError, UnverifiedPlan,
};
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::BTreeMap;
use values::address::ProviderAddress;

/// That a plan passed this stage. Made here alone.
pub(crate) struct AuthenticityProof(());

/// What the authenticity stage compares a plan with.
#[derive(Clone, Copy)]
pub struct AuthenticityFacts<'a> {
    /// The time, seconds since the epoch.
    pub now: i64,
    /// The version of this engine.
    pub engine: &'a str,
    /// Digest of the configuration at hand; `None` where only the plan carries one.
    pub bundle_digest: Option<&'a str>,
    /// The providers that are installed; `None` where they are installed from the plan's own lock.
    pub providers: Option<&'a BTreeMap<ProviderAddress, LockedProvider>>,
    /// The plan's transaction, as the store has it.
    pub transaction: Option<&'a TransactionBody>,
    /// The run that asks: its own transaction does not count as use.
    pub run: Option<&'a RunId>,
}

/// Checks MAC, engine, expiry, single use, bundle and provider lock; all of them, also after a mismatch.
///
/// # Errors
/// Where the keeper of the key cannot be asked.
pub async fn authenticate(
    plan: UnverifiedPlan,
    verifier: &dyn PlanVerifier,
    facts: &AuthenticityFacts<'_>,
) -> Result<(Vec<Verdict>, Option<AuthenticatedPlan>), SigningError> {
    let mut verdicts = Vec::new();
    if !verifier.verify(plan.digest(), plan.signature()).await? {
        let message =
            "the plan's MAC was not made by the key of this estate, or the plan was changed since";
        verdicts.push(reject(message).remedy(PLAN_AGAIN));
    }
    let contents = plan.contents_for_showing();
    verdicts.extend(engine(contents, facts));
    // What was decided in time goes on, however late.
    if !is_decided(&plan, facts) {
        verdicts.extend(expiry(contents, facts));
        verdicts.extend(single_use(contents, facts));
    }
    verdicts.extend(bundle(contents, facts));
    verdicts.extend(providers(contents, facts));
    if !contents.plan.complete {
        let message = "the plan was made with errors and is not whole";
        verdicts.push(reject(message).remedy(format!("mend them, then {PLAN_AGAIN}")));
    }
    if !verdicts.is_empty() {
        return Ok((verdicts, None));
    }
    let message =
        "MAC, engine, expiry, single use, configuration and providers are as they should be";
    verdicts.push(Verdict::new(Stage::Authenticity, Outcome::Pass, message));
    Ok((verdicts, Some(plan.authenticated(AuthenticityProof(())))))
}

fn reject(message: impl Into<String>) -> Verdict {
    Verdict::reject(Stage::Authenticity, RejectCode::Unauthentic, message)
}

fn engine(plan: &SavedPlan, facts: &AuthenticityFacts<'_>) -> Option<Verdict> {
    (*plan.engine != *facts.engine).then(|| {
        reject("the plan was made by another version of Plumbline")
            .compared(&plan.engine, facts.engine)
            .remedy(format!("apply it with version {}, or {PLAN_AGAIN}", plan.engine))
    })
}

fn expiry(plan: &SavedPlan, facts: &AuthenticityFacts<'_>) -> Option<Verdict> {
    if facts.now >= plan.expires {
        let ago = facts.now - plan.expires;
        return Some(reject(format!("the plan expired {ago} s ago")).remedy(PLAN_AGAIN));
    }
    None
}

/// Whether an apply of this very plan asks again after it was decided.
fn is_decided(plan: &UnverifiedPlan, facts: &AuthenticityFacts<'_>) -> bool {
    let transaction = facts.transaction.filter(|_| facts.run.is_some());
    transaction.is_some_and(|transaction| {
        transaction.phase == Phase::Executing
            && transaction.plan_digest == plan.digest().to_string()
    })
}

fn single_use(plan: &SavedPlan, facts: &AuthenticityFacts<'_>) -> Option<Verdict> {
    let transaction = facts.transaction?;
    let (run, principal) = (&transaction.run, &transaction.principal);
    match transaction.phase {
        Phase::Waiting => None,
        // Whoever applies asks for the lease, which knows better than a clock.
        Phase::Claiming if facts.run.is_some() => None,
        Phase::Claiming if transaction.lease_until <= facts.now => None,
        Phase::Claiming | Phase::Executing if transaction.lease_until > facts.now => {
            let message = format!(
                "the run {run} of {principal} is applying this plan; its lease ends in {} s",
                transaction.lease_until - facts.now
            );
            let remedy = format!("wait for that run, or {PLAN_AGAIN}");
            Some(Verdict::reject(Stage::Authenticity, RejectCode::Busy, message).remedy(remedy))
        }
        phase => {
            let message = format!(
                "the plan {} was used already: the run {run} of {principal} left it {phase}",
                plan.id
            );
            let remedy = match phase {
                Phase::Executing => "run `plumb apply FILE` with it again: it goes on from there",
                _ => PLAN_AGAIN,
            };
            Some(reject(message).remedy(remedy))
        }
    }
}

fn bundle(plan: &SavedPlan, facts: &AuthenticityFacts<'_>) -> Option<Verdict> {
    let planned = plan.bundle.digest();
    let actual = facts.bundle_digest?;
    (planned != actual).then(|| {
        reject("the configuration is not the one that was planned")
            .compared(planned, actual)
            .remedy(format!("check out the planned configuration, or {PLAN_AGAIN}"))
    })
}

fn providers(plan: &SavedPlan, facts: &AuthenticityFacts<'_>) -> Vec<Verdict> {
    let Some(installed) = facts.providers else { return Vec::new() };
    let mismatch = |(address, planned): (&ProviderAddress, &LockedProvider)| {
        let name = address.for_display();
        let install = format!("run `plumb init` with the lock file of the plan, or {PLAN_AGAIN}");
        let Some(actual) = installed.get(address) else {
            return Some(
                reject(format!("the provider {name} of the plan is not installed")).remedy(install),
            );
        };
        if planned.version != actual.version {
            return Some(
                reject(format!("the provider {name} has another version than was planned with"))
                    .compared(&planned.version, &actual.version)
                    .remedy(install),
            );
        }
        // Lock files gain checksums over time; one in common proves the same package.
        let common = planned.hashes.intersection(&actual.hashes).next().is_some();
        let unchecked = planned.hashes.is_empty() && actual.hashes.is_empty();
        (!common && !unchecked).then(|| {
            let message = format!(
                "the provider {name} {} is another package than was planned with",
                planned.version
            );
            reject(message).remedy(install)
        })
    };
    plan.providers.iter().filter_map(mismatch).collect()
}
