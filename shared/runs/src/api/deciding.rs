//! What people decide about runs.

use super::triggers::named;
use super::{Api, ApiError, ApiRequest, ApiResponse};
use crate::approval::{self, ApprovalError, Decision};
use crate::deployment::Action;
use crate::executions::ExecutionError;
use crate::remote_api::in_query;
use crate::run_state::{RunState, RunStateError, Status};
use engine::identifiers::RunId;
use serde::Deserialize;
use serde_json::json;

/// The errors that the definition knows these decisions by.
const DECLINED: &str = "Declined";
const CANCELLED: &str = "Cancelled";

/// The body of approvals and rejections.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecideOnPlan {
    estate: String,
    plan_digest: String,
}

impl DecideOnPlan {
    /// As the page's form has it, and nothing else.
    fn of_form(fields: impl Iterator<Item = (String, String)>) -> Result<DecideOnPlan, ApiError> {
        let (mut estate, mut plan_digest) = (None, None);
        for (name, value) in fields {
            let before = match name.as_str() {
                "estate" => estate.replace(value),
                "plan_digest" => plan_digest.replace(value),
                _ => return Err(ApiError::Body(format!("the form has a field {name:?}"))),
            };
            if before.is_some() {
                return Err(ApiError::Body(format!("the form has two fields {name:?}")));
            }
        }
        let missing = |name: &str| ApiError::Body(format!("the form has no field {name:?}"));
        Ok(DecideOnPlan {
            estate: estate.ok_or_else(|| missing("estate"))?,
            plan_digest: plan_digest.ok_or_else(|| missing("plan_digest"))?,
        })
    }
}

/// The body of `POST /runs/{run}/cancel`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelRun {
    estate: String,
}

impl Api<'_> {
    pub(super) async fn approve(
        &self,
        request: &ApiRequest,
        run: &str,
    ) -> Result<ApiResponse, ApiError> {
        let state = self.decide(request, run, Decision::Approved).await?;
        let token = state.task_token.as_deref().ok_or(ExecutionError::NotWaiting)?;
        self.executions.succeed(token).await?;
        let approved = self.states.change(&state.estate, &state.run, |state| {
            // The execution may be further already.
            if state.status == Status::WaitingForApproval {
                state.status = Status::Approved;
                state.task_token = None;
            }
        });
        match approved.await {
            // It may be over, even.
            Ok(_) | Err(RunStateError::Ended { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(decided(request, &state, "approved"))
    }

    pub(super) async fn decline(
        &self,
        request: &ApiRequest,
        run: &str,
    ) -> Result<ApiResponse, ApiError> {
        let state = self.decide(request, run, Decision::Declined).await?;
        let token = state.task_token.as_deref().ok_or(ExecutionError::NotWaiting)?;
        self.executions.fail(token, DECLINED).await?;
        Ok(decided(request, &state, "declined"))
    }

    /// Writes a decision down, before the execution hears of it: what apply reads is there when it is asked to.
    async fn decide(
        &self,
        request: &ApiRequest,
        run: &str,
        decision: Decision,
    ) -> Result<RunState, ApiError> {
        let body = match request.is_form() {
            true => DecideOnPlan::of_form(request.fields())?,
            false => request.parsed()?,
        };
        let estate = named(&body.estate)?;
        let principal = self.permitted(request, Action::Approve, &estate)?;
        let state = self.states.read(&estate, &RunId::from_stored(run)).await?;
        let (states, deployment) = (&self.states, &self.deployment);
        let digest = &body.plan_digest;
        let plan = approval::check(states, deployment, &state, decision, principal, digest).await?;
        match approval::record(states, &state, plan, decision, principal).await {
            // The first one counts. The run waits all the same, and so has not heard of it: whoever gave it was torn off.
            Err(ApprovalError::Decided(before))
                if before.decision == decision && before.plan_digest == *digest => {}
            recorded => drop(recorded?),
        }
        Ok(state)
    }

    pub(super) async fn cancel(
        &self,
        request: &ApiRequest,
        run: &str,
    ) -> Result<ApiResponse, ApiError> {
        let body: CancelRun = request.parsed()?;
        let estate = named(&body.estate)?;
        let principal = self.permitted(request, Action::Cancel, &estate)?;
        let run_id = RunId::from_stored(run);
        let state = self.states.read(&estate, &run_id).await?;
        if state.status == Status::Applying {
            return Err(ApiError::Applying { run: run.to_owned() });
        }
        let stop = |state: &mut RunState| {
            // Between our look and this write it may have begun to change things.
            if state.status != Status::Applying {
                state.cancelled_by = Some(principal.clone());
            }
        };
        let state = self.states.change(&estate, &run_id, stop).await?;
        if state.status == Status::Applying {
            return Err(ApiError::Applying { run: run.to_owned() });
        }
        if let Some(token) = &state.task_token {
            match self.executions.fail(token, CANCELLED).await {
                // It goes on, and its next step sees that it was stopped.
                Err(ExecutionError::NotWaiting) => {}
                ended => ended?,
            }
        }
        Ok(ApiResponse::json(202, &json!({"run": run, "decision": "cancelled"})))
    }
}

/// A browser goes on to the run's page, which says who decided; programs are told what was.
fn decided(request: &ApiRequest, state: &RunState, decision: &str) -> ApiResponse {
    let run = state.run.as_str();
    if !request.is_form() {
        return ApiResponse::json(202, &json!({"run": run, "decision": decision}));
    }
    // Relative, so that it holds behind whatever stands before the API.
    let (run, estate) = (in_query(run), in_query(state.estate.0.as_str()));
    ApiResponse::see_other(format!("../{run}?estate={estate}"))
}
