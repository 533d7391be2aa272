//! What is asked of plan and apply where a test does not care how.

use engine::existing_state::NewEstate;
use engine::identifiers::{Principal, RunId};
use engine::saved_plan::DEFAULT_EXPIRY;
use engine::{PlanOptions, Variables};
use runs::apply::{ApplyRequest, PlanToApply};
use runs::plan::PlanRequest;
use runs::source::Source;

pub(crate) fn to_plan(source: Source) -> PlanRequest {
    PlanRequest {
        source,
        variables: Variables::new(),
        options: PlanOptions::default(),
        new_estate: NewEstate::NotDeclared,
        expiry: DEFAULT_EXPIRY,
    }
}

pub(crate) fn to_apply<'a>(plan: PlanToApply<'a>, run: &str) -> ApplyRequest<'a> {
    ApplyRequest {
        plan,
        run: RunId::from_stored(run),
        principal: Principal::from_stored("somebody"),
        approved_by: None,
        deadline: None,
        ephemeral: Variables::new(),
        waivers: &[],
        spill: None,
    }
}
