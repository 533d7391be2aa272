use super::comparison::{Subject, block_of};
use super::{Waiver, World};
use crate::saved_plan::SavedPlan;
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use values::address::{ResourceInstance, ResourceMode};

const REMOTE_STATE: &str = "terraform_remote_state";

/// Whether an instance stands for the outputs of another estate or state.
pub(super) fn is_upstream(address: &ResourceInstance) -> bool {
    address.resource.mode == ResourceMode::Data && *address.resource.ty == *REMOTE_STATE
}

/// Whether outputs of other estates and states moved, of those that the plan looked at.
pub fn check_upstream(plan: &SavedPlan, world: World<'_>, waivers: &[Waiver]) -> Vec<Verdict> {
    let read = plan
        .read_set
        .iter()
        .filter(|(address, member)| is_upstream(address) && member.looked_at.is_compared());
    let read: Vec<_> = read.collect();
    if read.is_empty() {
        let message = "the plan uses no outputs of other estates";
        return vec![Verdict::new(Stage::Upstream, Outcome::NotChecked, message)];
    }
    let World::Read(actual) = world else {
        let message = "the outputs of other estates were not read again";
        return vec![
            Verdict::new(Stage::Upstream, Outcome::NotChecked, message)
                .remedy("run `plumb validate -plan=FILE` with credentials that may read"),
        ];
    };
    let mut verdicts = Vec::new();
    for (address, member) in &read {
        let subject = Subject {
            stage: Stage::Upstream,
            code: RejectCode::Stale,
            address,
            thing: "what another estate puts out",
            looked_at: &member.looked_at,
            is_changed: false,
            is_deleted: false,
            block: block_of(plan, address, actual.get(*address)),
            ignored: &[],
            waivers,
        };
        let planned = plan.plan.refreshed.get(*address);
        verdicts.extend(subject.compare(planned, actual.get(*address)));
    }
    if !verdicts.iter().any(Verdict::is_reject) {
        let message = match verdicts.is_empty() {
            true => format!("the outputs of {} other estates are as planned", read.len()),
            false => "outputs of other estates moved, and that was accepted".to_owned(),
        };
        verdicts.push(Verdict::new(Stage::Upstream, Outcome::Pass, message));
    }
    verdicts
}
