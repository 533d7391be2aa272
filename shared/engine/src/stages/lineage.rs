use super::PLAN_AGAIN;
use crate::estate::EstateReading;
use crate::record::key::EstateName;
use crate::saved_plan::SavedPlan;
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};

/// Whether the plan is for this estate, also where its state vanished or appeared.
pub fn check_lineage(
    plan: &SavedPlan,
    estate: &EstateName,
    reading: &EstateReading,
) -> Vec<Verdict> {
    let reject = |message: String| Verdict::reject(Stage::Lineage, RejectCode::Stale, message);
    let actual = reading.header.as_ref().map(|header| &header.lineage);
    let verdict = match (&plan.lineage, actual) {
        _ if plan.estate != *estate => reject("the plan was made for another estate".into())
            .compared(&plan.estate, estate)
            .remedy(format!(
                "apply it with `-estate={}`, or in that workspace, or {PLAN_AGAIN}",
                plan.estate
            )),
        (Some(planned), Some(actual)) if planned == actual => {
            let message = format!("the estate {estate} has the lineage that was planned for");
            Verdict::new(Stage::Lineage, Outcome::Pass, message)
        }
        (Some(planned), Some(actual)) => {
            reject(format!("the records of {estate} belong to another estate than was planned for"))
                .compared(&planned.0, &actual.0)
                .remedy(format!("check where the records are kept, or {PLAN_AGAIN}"))
        }
        (Some(planned), None) => reject(format!("the records of {estate} are gone"))
            .compared(&planned.0, "no lineage")
            .remedy(
                "check where the records are kept, and restore them before anything is planned",
            ),
        (None, Some(_)) => {
            let message = format!(
                "the estate {estate} had no lineage yet when it was planned for, and has got one since; its \
                 records decide"
            );
            Verdict::new(Stage::Lineage, Outcome::Pass, message)
        }
        (None, None) => {
            let message =
                format!("the estate {estate} has no lineage yet, as when it was planned for");
            Verdict::new(Stage::Lineage, Outcome::Pass, message)
        }
    };
    vec![verdict]
}
