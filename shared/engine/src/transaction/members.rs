//! The members of a write set: what a transaction claims, and what for.

use crate::record::body::{ClaimedAction, ClaimedObject};
use crate::saved_plan::SavedPlan;
use crate::state::Revision;
use std::collections::BTreeMap;
use values::address::ResourceInstance;

/// One instance of a write set.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The revision that the plan saw; empty where there was no instance.
    pub revision: Revision,
    /// The object that is changed, or the current one of several.
    pub object: ClaimedObject,
    /// What is done to it, as a whole.
    pub action: ClaimedAction,
    /// Where its object goes, if it is moved away.
    pub moves_to: Option<ResourceInstance>,
    /// The resources that it refers to from then on.
    pub dependencies: Vec<String>,
}

impl Member {
    /// A member whose current object is changed.
    pub fn new(revision: Revision, action: ClaimedAction) -> Member {
        Member {
            revision,
            object: ClaimedObject::Current,
            action,
            moves_to: None,
            dependencies: Vec::new(),
        }
    }
}

/// The write set of a plan, with what is done to each.
pub fn members(plan: &SavedPlan) -> BTreeMap<ResourceInstance, Member> {
    let mut members: BTreeMap<ResourceInstance, Member> = plan
        .write_set
        .iter()
        .map(|(address, member)| {
            let action = match plan.plan.imports.contains_key(address) {
                true => ClaimedAction::Import,
                // The end of a move at which nothing else is done.
                false => ClaimedAction::Move,
            };
            (address.clone(), Member::new(member.revision.clone(), action))
        })
        .collect();
    for (now, origin) in plan.plan.moves.iter() {
        if let Some(member) = members.get_mut(origin) {
            member.moves_to = Some(now.clone());
        }
    }
    // Deposed objects first: where the current one is changed too, that is what the claim is for.
    let changes = plan.plan.changes.resources.iter();
    let (deposed, current): (Vec<_>, Vec<_>) = changes.partition(|c| c.deposed.is_some());
    for change in deposed.into_iter().chain(current) {
        let Some(member) = members.get_mut(&change.address) else { continue };
        let action = ClaimedAction::from(change.action);
        if action != ClaimedAction::Move {
            member.action = action;
            member.object = change.deposed.as_ref().into();
        }
        member.dependencies = change.dependencies.iter().map(ToString::to_string).collect();
    }
    members
}
