//! The write set and the read set of a plan.

use engine::changes::{Action, ActionReason, ResourceInstanceChange};
use engine::estate::EstateReading;
use engine::plan::Plan;
use engine::saved_plan::SetMember;
use std::collections::{BTreeMap, BTreeSet};
use values::address::{ConfigResource, ResourceInstance};

pub(crate) type Set = BTreeMap<ResourceInstance, SetMember>;

/// Instances with an action; both ends of a move.
pub(crate) fn write_set(plan: &Plan, reading: &EstateReading) -> Set {
    changing(plan)
        .flat_map(|change| [Some(&change.address), change.previous_address.as_ref()])
        .flatten()
        .chain(plan.moves.iter().flat_map(|(now, was)| [now, was]))
        .chain(plan.imports.keys())
        .map(|address| (address.clone(), member(address, reading)))
        .collect()
}

/// All instances of the resources that a change depends on, and what depends on a deletion. Whole
/// instances: a change of anything that might have been looked at rejects the plan.
pub(crate) fn read_set(plan: &Plan, reading: &EstateReading, write_set: &Set) -> Set {
    let depended: BTreeSet<&ConfigResource> =
        changing(plan).flat_map(|change| change.dependencies.iter()).collect();
    let deleted: BTreeSet<ConfigResource> = changing(plan)
        .filter(|change| change.action == Action::Delete || change.action.is_replace())
        .map(|change| change.address.config())
        .collect();
    let instances = reading.state.instances.iter();
    instances
        .filter(|(address, _)| !write_set.contains_key(*address))
        .filter(|(address, instance)| {
            let objects = instance.current.iter().chain(instance.deposed.values());
            depended.contains(&address.config())
                || objects.flat_map(|o| o.dependencies.iter()).any(|d| deleted.contains(d))
        })
        .map(|(address, _)| (address.clone(), member(address, reading)))
        .collect()
}

fn changing(plan: &Plan) -> impl Iterator<Item = &ResourceInstanceChange> {
    let changes = plan.changes.resources.iter();
    // What a check looks at decides nothing: it may be anything by then.
    let changes = changes.filter(|c| c.reason != Some(ActionReason::ReadBecauseCheckNested));
    changes.filter(|c| c.action != Action::NoOp || c.previous_address.is_some())
}

fn member(address: &ResourceInstance, reading: &EstateReading) -> SetMember {
    let (version, revision) = reading.version_and_revision(address);
    SetMember { version, revision, paths: None }
}
