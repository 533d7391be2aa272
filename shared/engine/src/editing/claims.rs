//! What edits claim, and what they rest on.

use super::{Edit, Edits};
use crate::estate::{Estate, EstateReading};
use crate::identifiers::PlanId;
use crate::plan::{Plan, PlanMode};
use crate::reads::LookedAt;
use crate::record::body::ClaimedAction;
use crate::saved_plan::{Bundle, ENGINE_VERSION, PlanOptions, SavedPlan, SetMember};
use crate::transaction::Member;
use std::collections::{BTreeMap, BTreeSet};
use values::address::ResourceInstance;

impl Edits {
    /// What a transaction of these edits claims, at the revisions of a reading: every record that is written.
    pub fn members(&self, reading: &EstateReading) -> BTreeMap<ResourceInstance, Member> {
        let revision = |address: &ResourceInstance| reading.version_and_revision(address).1;
        let mut members = BTreeMap::new();
        for (address, edit) in &self.by_instance {
            let mut member = Member::new(revision(address), action(edit));
            match edit {
                Edit::Move(to) => {
                    let mut target = Member::new(revision(to), ClaimedAction::Move);
                    let moved = reading.state.instances.get(address);
                    let objects = moved.iter().flat_map(|instance| instance.current.iter());
                    target.dependencies = objects
                        .flat_map(|object| object.dependencies.iter())
                        .map(ToString::to_string)
                        .collect();
                    members.insert(to.clone(), target);
                    member.moves_to = Some(to.clone());
                }
                Edit::Import(object) => {
                    member.dependencies =
                        object.dependencies.iter().map(ToString::to_string).collect();
                }
                Edit::Forget | Edit::Taint | Edit::Untaint | Edit::ReplaceProvider { .. } => {}
            }
            members.insert(address.clone(), member);
        }
        members
    }

    /// The edits as a plan without changes that rests on what they rest on, for the checks of a transaction.
    pub fn as_plan(&self, id: PlanId, estate: &Estate, reading: &EstateReading) -> SavedPlan {
        let now = estate.clock.seconds();
        let member = |address: ResourceInstance| {
            let (version, revision) = reading.version_and_revision(&address);
            let looked_at = LookedAt::Paths(Vec::new());
            (address, SetMember { version, revision, looked_at })
        };
        SavedPlan {
            id,
            created: now,
            expires: now,
            engine: ENGINE_VERSION.into(),
            estate: estate.name.clone(),
            lineage: reading.header.as_ref().map(|header| header.lineage.clone()),
            serial: reading.state.serial,
            bundle: Bundle::default(),
            providers: BTreeMap::new(),
            write_set: self.members(reading).into_keys().map(member).collect(),
            read_set: BTreeMap::new(),
            key_sets: self.whole.clone(),
            ignored: BTreeMap::new(),
            ephemeral_variables: BTreeSet::new(),
            options: PlanOptions::default(),
            snapshot: Vec::new(),
            plan: Plan::empty(PlanMode::Normal, now, reading.state.clone()),
        }
    }
}

fn action(edit: &Edit) -> ClaimedAction {
    match edit {
        Edit::Move(_) => ClaimedAction::Move,
        Edit::Forget => ClaimedAction::Forget,
        Edit::Taint => ClaimedAction::Taint,
        Edit::Untaint => ClaimedAction::Untaint,
        Edit::ReplaceProvider { .. } => ClaimedAction::ReplaceProvider,
        Edit::Import(_) => ClaimedAction::Import,
    }
}
