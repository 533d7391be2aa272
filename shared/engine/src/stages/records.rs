use super::PLAN_AGAIN;
use crate::changes::Action;
use crate::estate::{EstateReading, RecordFacts};
use crate::record::body::ClaimState;
use crate::saved_plan::{SavedPlan, SetMember};
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::BTreeSet;
use values::address::{ConfigResource, ResourceInstance};

/// Whether the records that the plan rests on moved, are claimed by others, or are in doubt.
pub fn check_records(plan: &SavedPlan, reading: &EstateReading) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (address, member) in plan.recorded_members() {
        let Some(facts) = reading.records.get(address) else {
            verdicts.extend(moved(address, member, None));
            continue;
        };
        verdicts.extend(claimed(plan, reading, address, facts));
        // An equal version needs no look at the body; claiming and refreshing change the version alone.
        if facts.version != member.version {
            verdicts.extend(moved(address, member, Some(facts)));
        }
        if let Some(doubt) = &facts.doubt {
            let message = format!(
                "the transaction {} may have created an object that no record describes",
                doubt.transaction
            );
            verdicts.push(in_doubt(address, message));
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

fn moved(
    address: &ResourceInstance,
    member: &SetMember,
    facts: Option<&RecordFacts>,
) -> Option<Verdict> {
    let actual = facts.map_or("", |f| &*f.revision.0);
    let planned = &*member.revision.0;
    if planned == actual {
        return None;
    }
    let by = facts.map_or_else(
        || "its record was removed".to_owned(),
        |f| format!("the run {} of {} wrote it", f.written_by.run, f.written_by.principal),
    );
    let what = match (planned, actual) {
        ("", _) => "the record did not exist when the plan was made, and does now",
        (_, "") => "the record existed when the plan was made, and does no more",
        _ => "the record was changed since the plan was made",
    };
    let name = |revision: &str| match revision {
        "" => "absent".to_owned(),
        revision => format!("revision {revision}"),
    };
    Some(
        Verdict::reject(Stage::Records, RejectCode::Stale, format!("{what}: {by}"))
            .on(address)
            .compared(name(planned), name(actual))
            .remedy(PLAN_AGAIN),
    )
}

fn claimed(
    plan: &SavedPlan,
    reading: &EstateReading,
    address: &ResourceInstance,
    facts: &RecordFacts,
) -> Option<Verdict> {
    let claim = facts.claim.as_ref()?;
    // A claim ends with its transaction.
    let alive = reading.header.as_ref().is_some_and(|h| h.under_way.contains(&claim.transaction));
    if claim.transaction == plan.id || !alive {
        return None;
    }
    let doing = match claim.state {
        ClaimState::Claimed => "is about to change",
        ClaimState::Applying | ClaimState::Unfinished => "is changing",
        ClaimState::Done => "has changed, and not yet committed,",
    };
    let by = &facts.written_by;
    let message =
        format!("the run {} of {} (plan {}) {doing} it", by.run, by.principal, claim.transaction);
    Some(
        Verdict::reject(Stage::Records, RejectCode::Busy, message)
            .on(address)
            .remedy("wait for that run, then run `plumb apply FILE` again with the same plan"),
    )
}

/// What was written since and depends on something that the plan deletes.
fn new_dependents(plan: &SavedPlan, reading: &EstateReading) -> Vec<Verdict> {
    let deletes = |action: Action| action == Action::Delete || action.is_replace();
    let deleted: BTreeSet<ConfigResource> = plan
        .plan
        .changes
        .resources
        .iter()
        .filter(|change| deletes(change.action) && change.deposed.is_none())
        .map(|change| change.address.config())
        .collect();
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
