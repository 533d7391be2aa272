use crate::saved_plan::SavedPlan;
use crate::verdict::{Outcome, Stage, Verdict};

/// Whether outputs of other estates moved.
pub fn check_upstream(_plan: &SavedPlan) -> Vec<Verdict> {
    let message = "no upstream estates: the plan uses no outputs of other estates";
    vec![Verdict::new(Stage::Upstream, Outcome::NotChecked, message)]
}
