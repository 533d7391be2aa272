//! What people decide about runs.

use super::triggers::named;
use super::{Api, ApiError, ApiRequest, ApiResponse};
use crate::approval::{self, ApprovalError, Decision};
use crate::deployment::Action;
use crate::executions::ExecutionError;
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
        Ok(ApiResponse::json(202, &json!({"run": run, "decision": "approved"})))
    }

    pub(super) async fn decline(
        &self,
        request: &ApiRequest,
        run: &str,
    ) -> Result<ApiResponse, ApiError> {
        let state = self.decide(request, run, Decision::Declined).await?;
        let token = state.task_token.as_deref().ok_or(ExecutionError::NotWaiting)?;
        self.executions.fail(token, DECLINED).await?;
        Ok(ApiResponse::json(202, &json!({"run": run, "decision": "declined"})))
    }

    /// Writes a decision down, before the execution hears of it: what apply reads is there when it is asked to.
    async fn decide(
        &self,
        request: &ApiRequest,
        run: &str,
        decision: Decision,
    ) -> Result<RunState, ApiError> {
        let body: DecideOnPlan = request.parsed()?;
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
