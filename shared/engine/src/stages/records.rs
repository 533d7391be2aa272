use super::PLAN_AGAIN;
use crate::changes::Action;
use crate::estate::{EstateReading, RecordFacts};
use crate::record::body::{Claim, ClaimState, Doubt, TransactionBody, WrittenBy};
use crate::saved_plan::{SavedPlan, SetMember};
use crate::transaction::{Fate, Others};
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::BTreeSet;
use values::address::{ConfigResource, ResourceInstance, ResourceMode};

/// Whether the records that the plan rests on moved, are claimed by others, or are in doubt.
/// `others` are the transactions that records name.
pub fn check_records(plan: &SavedPlan, reading: &EstateReading, others: &Others) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = claims_in_the_way(plan, reading, others)
        .into_iter()
        .filter_map(|(address, claim)| match others.fate_of(claim) {
            Fate::Ended => None,
            Fate::Alive(other) => Some(busy(address, claim, &other)),
            Fate::Dead(other) => Some(abandoned(address, claim, &other)),
        })
        .collect();
    for (address, member) in plan.recorded_members() {
        let Some(facts) = reading.records.get(address) else {
            verdicts.extend(moved_since(address, member, None));
            continue;
        };
        // An equal version needs no look at the body; claiming and refreshing change the version alone.
        if facts.version != member.version {
            verdicts.extend(moved_since(address, member, Some(facts)));
        }
        if let Some(doubt) = &facts.doubt {
            verdicts.push(doubtful(address, doubt));
        }
    }
    for stray in &reading.strays {
        if plan.write_set.contains_key(&stray.address) || plan.read_set.contains_key(&stray.address)
        {
            let message = format!(
                "a result of the run {} of {} is kept in {}, since its record had been changed by another run",
                stray.written_by.run, stray.written_by.principal, stray.key
            );
            verdicts.push(in_doubt(&stray.address, message));
        }
    }
    verdicts.extend(new_dependents(plan, reading));
    verdicts.extend(new_instances(plan, reading));
    if verdicts.is_empty() {
        let message = format!(
            "none of the {} records that are changed and {} that are read has moved",
            plan.write_set.len(),
            plan.read_set.len()
        );
        verdicts.push(Verdict::new(Stage::Records, Outcome::Pass, message));
    }
    verdicts
}

fn in_doubt(address: &ResourceInstance, message: String) -> Verdict {
    Verdict::reject(Stage::Records, RejectCode::InDoubt, message).on(address).remedy(format!(
        "take it over with `plumb adopt '{address}'`, or drop it with `plumb dismiss '{address}'`"
    ))
}

/// That an object may exist which no record describes.
pub(crate) fn doubtful(address: &ResourceInstance, doubt: &Doubt) -> Verdict {
    let message = format!(
        "the transaction {} may have created an object that no record describes",
        doubt.transaction
    );
    in_doubt(address, message)
}

fn moved_since(
    address: &ResourceInstance,
    member: &SetMember,
    facts: Option<&RecordFacts>,
) -> Option<Verdict> {
    let actual = facts.map_or("", |f| &*f.revision.0);
    match facts {
        None => (!member.revision.0.is_empty()).then(|| removed(address, &member.revision.0)),
        Some(facts) => moved(address, &member.revision.0, actual, false, &facts.written_by),
    }
}

fn removed(address: &ResourceInstance, planned: &str) -> Verdict {
    stale(address, planned, "", "its record was removed")
}

/// That a record is not at its planned revision; empty stands for an instance that does not exist.
pub(crate) fn moved(
    address: &ResourceInstance,
    planned: &str,
    actual: &str,
    is_removed: bool,
    by: &WrittenBy,
) -> Option<Verdict> {
    if planned == actual {
        return None;
    }
    if is_removed {
        return Some(removed(address, planned));
    }
    let by = format!("the run {} of {} wrote it", by.run, by.principal);
    Some(stale(address, planned, actual, &by))
}

fn stale(address: &ResourceInstance, planned: &str, actual: &str, by: &str) -> Verdict {
    let what = match (planned, actual) {
        ("", _) => "the record did not exist when the plan was made, and does now",
        (_, "") => "the record existed when the plan was made, and does no more",
        _ => "the record was changed since the plan was made",
    };
    let name = |revision: &str| match revision {
        "" => "absent".to_owned(),
        revision => format!("revision {revision}"),
    };
    Verdict::reject(Stage::Records, RejectCode::Stale, format!("{what}: {by}"))
        .on(address)
        .compared(name(planned), name(actual))
        .remedy(PLAN_AGAIN)
}

/// Claims of other transactions on what the plan changes or read, and those that are about to depend on what
/// it deletes.
pub(crate) fn claims_in_the_way<'r>(
    plan: &SavedPlan,
    reading: &'r EstateReading,
    others: &Others,
) -> Vec<(&'r ResourceInstance, &'r Claim)> {
    let claims = foreign_claims(plan, reading).into_iter();
    claims.filter(|(_, claim)| others.fate_of(claim) != Fate::Ended).collect()
}

/// The same, also of transactions that may have ended.
pub(crate) fn foreign_claims<'r>(
    plan: &SavedPlan,
    reading: &'r EstateReading,
) -> Vec<(&'r ResourceInstance, &'r Claim)> {
    let deleted: BTreeSet<String> =
        deleted_resources(plan).into_iter().map(|resource| resource.to_string()).collect();
    let in_the_way = |(address, facts): (&'r ResourceInstance, &'r RecordFacts)| {
        let claim = facts.claim.as_ref().filter(|claim| claim.transaction != plan.id)?;
        let managed = address.resource.mode == ResourceMode::Managed;
        let ours = plan.write_set.contains_key(address)
            || (managed && plan.read_set.contains_key(address))
            || plan.key_sets.contains(&address.containing());
        let depends = || claim.dependencies.iter().any(|resource| deleted.contains(resource));
        (ours || depends()).then_some((address, claim))
    };
    reading.records.iter().filter_map(in_the_way).collect()
}

/// That another transaction has a claim.
pub(crate) fn busy(address: &ResourceInstance, claim: &Claim, by: &TransactionBody) -> Verdict {
    let doing = match claim.state {
        ClaimState::Claimed => "is about to change",
        ClaimState::Applying | ClaimState::Unfinished => "is changing",
        ClaimState::Done => "has changed, and not yet committed,",
    };
    let message =
        format!("the run {} of {} (plan {}) {doing} it", by.run, by.principal, claim.transaction);
    Verdict::reject(Stage::Records, RejectCode::Busy, message)
        .on(address)
        .remedy("wait for that run, then run `plumb apply FILE` again with the same plan")
}

/// That a transaction died with a claim: an apply settles it.
fn abandoned(address: &ResourceInstance, claim: &Claim, by: &TransactionBody) -> Verdict {
    let (run, principal) = (&by.run, &by.principal);
    let message = format!(
        "the run {run} of {principal} (plan {}) was stopped before it ended, and has a claim on it",
        claim.transaction
    );
    let remedy = "`plumb apply FILE` settles what that run left, and then applies this plan if it still holds";
    Verdict::new(Stage::Records, Outcome::Warn, message).on(address).remedy(remedy)
}

fn deleted_resources(plan: &SavedPlan) -> BTreeSet<ConfigResource> {
    let deletes = |action: Action| action == Action::Delete || action.is_replace();
    let changes = plan.plan.changes.resources.iter();
    changes
        .filter(|change| deletes(change.action) && change.deposed.is_none())
        .map(|change| change.address.config())
        .collect()
}

/// What was written since and depends on something that the plan deletes.
fn new_dependents(plan: &SavedPlan, reading: &EstateReading) -> Vec<Verdict> {
    let deleted = deleted_resources(plan);
    if deleted.is_empty() {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    for (address, instance) in &reading.state.instances {
        let known = plan.plan.previous.instances.get(address);
        if known.is_some_and(|known| known.revision == instance.revision)
            || plan.write_set.contains_key(address)
        {
            continue;
        }
        let objects = instance.current.iter().chain(instance.deposed.values());
        let dependency = objects
            .flat_map(|object| object.dependencies.iter())
            .find(|dependency| deleted.contains(*dependency));
        if let Some(dependency) = dependency {
            let by = reading.records.get(address).map_or_else(String::new, |f| {
                format!(" by the run {} of {}", f.written_by.run, f.written_by.principal)
            });
            let message = format!(
                "it was written{by} since the plan was made, and depends on {dependency}, which the plan deletes"
            );
            verdicts.push(
                Verdict::reject(Stage::Records, RejectCode::Stale, message)
                    .on(address)
                    .remedy(PLAN_AGAIN),
            );
        }
    }
    verdicts
}

/// Instances that were recorded since, of resources whose set of instances the plan looked at.
fn new_instances(plan: &SavedPlan, reading: &EstateReading) -> Vec<Verdict> {
    if plan.key_sets.is_empty() {
        return Vec::new();
    }
    let new = reading.state.instances.keys().filter(|address| {
        !plan.plan.previous.instances.contains_key(*address)
            && !plan.write_set.contains_key(*address)
            && !plan.read_set.contains_key(*address)
            && plan.key_sets.contains(&address.containing())
    });
    new.map(|address| {
        let by = reading.records.get(address).map_or_else(String::new, |facts| {
            format!(" by the run {} of {}", facts.written_by.run, facts.written_by.principal)
        });
        let message = format!(
            "it was written{by} since the plan was made, and the plan rests on which instances of {} there are",
            address.containing()
        );
        Verdict::reject(Stage::Records, RejectCode::Stale, message).on(address).remedy(PLAN_AGAIN)
    })
    .collect()
}
