//! The write set and the read set of a plan, with the versions and revisions that a reading has of them.

use super::SetMember;
use crate::estate::EstateReading;
use crate::plan::Plan;
use crate::planning::is_change;
use crate::reads::LookedAt;
use std::collections::BTreeMap;
use values::address::ResourceInstance;

/// Instances with an action, both ends of a move, and what is imported.
pub fn write_set(plan: &Plan, reading: &EstateReading) -> BTreeMap<ResourceInstance, SetMember> {
    let changes = plan.changes.resources.iter().filter(|change| is_change(change));
    changes
        .flat_map(|change| [Some(&change.address), change.previous_address.as_ref()])
        .flatten()
        .chain(plan.moves.iter().flat_map(|(now, was)| [now, was]))
        .chain(plan.imports.keys())
        .map(|address| {
            let looked_at = plan.reads.instances.get(address).cloned();
            let looked_at = looked_at.unwrap_or(LookedAt::Paths(Vec::new()));
            (address.clone(), member(address, looked_at, reading))
        })
        .collect()
}

/// What the changes looked at beside what they change.
pub fn read_set(
    plan: &Plan,
    reading: &EstateReading,
    write_set: &BTreeMap<ResourceInstance, SetMember>,
) -> BTreeMap<ResourceInstance, SetMember> {
    let looked_at = plan.reads.instances.iter();
    looked_at
        .filter(|(address, _)| !write_set.contains_key(*address))
        .map(|(address, looked_at)| (address.clone(), member(address, looked_at.clone(), reading)))
        .collect()
}

fn member(address: &ResourceInstance, looked_at: LookedAt, reading: &EstateReading) -> SetMember {
    let (version, revision) = reading.version_and_revision(address);
    SetMember { version, revision, looked_at }
}
