use super::comparison::{Subject, block_of};
use super::upstream::is_upstream;
use super::{PLAN_AGAIN, Waiver};
use crate::changes::Action;
use crate::plan::{RefreshedInstance, Seen};
use crate::saved_plan::{SavedPlan, SetMember};
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use values::address::ResourceInstance;

/// What the world says now.
#[derive(Clone, Copy)]
pub enum World<'a> {
    /// Nobody read it.
    NotRead,
    /// As its providers read it: what [`SavedPlan::read_again`] names, as far as they could.
    Read(&'a BTreeMap<ResourceInstance, RefreshedInstance>),
}

/// Whether the world moved under the plan.
pub fn check_resources(plan: &SavedPlan, world: World<'_>, waivers: &[Waiver]) -> Vec<Verdict> {
    let World::Read(actual) = world else {
        let message = "the world was not read again";
        return vec![
            Verdict::new(Stage::Resources, Outcome::NotChecked, message)
                .remedy("run `plumb validate -plan=FILE` with credentials that may read"),
        ];
    };
    let changes = &plan.plan.changes.resources;
    let deleted: BTreeSet<&ResourceInstance> = changes
        .iter()
        .filter(|c| c.action == Action::Delete || c.action.is_replace())
        .map(|c| &c.address)
        .collect();
    let written = plan.write_set.iter().map(|(address, member)| (address, member, true));
    let read = plan.read_set.iter().filter(|(_, member)| member.looked_at.is_compared());
    let members = written.chain(read.map(|(address, member)| (address, member, false)));
    let mut verdicts = Vec::new();
    let (mut compared, mut unseen) = (0, 0);
    for (address, member, is_changed) in members.filter(|(address, ..)| !is_upstream(address)) {
        let (planned, actual) = (plan.plan.refreshed.get(address), actual.get(address));
        if planned.is_none() && actual.is_none() {
            continue;
        }
        match planned.is_some_and(|planned| planned.seen == Seen::Recorded) {
            true => unseen += 1,
            false => compared += 1,
        }
        let SetMember { looked_at, .. } = member;
        let subject = Subject {
            stage: Stage::Resources,
            code: RejectCode::Drifted,
            address,
            thing: "the object",
            looked_at,
            is_changed,
            is_deleted: deleted.contains(address),
            block: block_of(plan, address, actual),
            ignored: plan.ignored.get(address).map_or(&[], Vec::as_slice),
            waivers,
        };
        verdicts.extend(subject.compare(planned, actual));
    }
    if unseen > 0 {
        let message = format!(
            "{unseen} instances were planned without a look at the world: only whether they are there was compared"
        );
        let remedy =
            format!("{PLAN_AGAIN} and without -refresh=false, for a plan that says what it saw");
        verdicts.push(Verdict::new(Stage::Resources, Outcome::NotChecked, message).remedy(remedy));
    }
    if !verdicts.iter().any(Verdict::is_reject) {
        let message = match verdicts.iter().any(|verdict| verdict.outcome == Outcome::Warn) {
            false => format!("{compared} instances were read again and are as planned"),
            true => format!(
                "{compared} instances were read again; what differs does not matter or was accepted"
            ),
        };
        verdicts.push(Verdict::new(Stage::Resources, Outcome::Pass, message));
    }
    verdicts
}
