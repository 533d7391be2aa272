//! What is seen of runs and estates.

use super::triggers::named;
use super::{Api, ApiError, ApiRequest, ApiResponse, PAGE_ROOM};
use crate::approval::Approval;
use crate::deployment::Action;
use crate::report::Report;
use crate::run_reference::Mode;
use crate::run_state::{RunState, Status};
use crate::steps::{decided, details, told};
use crate::stores::Stores;
use engine::identifiers::RunId;
use serde_json::{Value, json};
use views::page::{Decision, PageOptions, RunPage, Sends, write_decision_page, write_run_page};
use views::run_report::RunReport;

/// Runs of one list.
const LISTED: usize = 50;
/// Runs among which the last look for drift is searched.
const SEARCHED: usize = 200;

impl Api<'_> {
    pub(super) async fn list_runs(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let estate = request.estate()?;
        self.permitted(request, Action::Read, &estate)?;
        let states = self.states.newest(&estate, LISTED).await?;
        let runs: Vec<Value> = states.iter().map(summary).collect();
        Ok(ApiResponse::json(200, &json!({"runs": runs})))
    }

    pub(super) async fn show_run(
        &self,
        request: &ApiRequest,
        run: &str,
    ) -> Result<ApiResponse, ApiError> {
        let estate = request.estate()?;
        self.permitted(request, Action::Read, &estate)?;
        let state = self.states.read(&estate, &RunId::from_stored(run)).await?;
        let stores = self.environment.stores(&estate.0).await?;
        if request.wants_page() {
            return Ok(self.run_page(request, &state, &stores).await);
        }
        let text = told(&state, &stores).await;
        let mut body = summary(&state);
        body["text"] = json!(text);
        Ok(ApiResponse::json(200, &body))
    }

    /// The page of a run. A browser of somebody who may decide gets one with which to do it.
    async fn run_page(
        &self,
        request: &ApiRequest,
        state: &RunState,
        stores: &Stores,
    ) -> ApiResponse {
        let (api, approval) = (request.address(), decided(&self.states, state).await);
        let report = details(state, approval.as_ref(), stores, api.as_deref()).await;
        let may = request.is_from_browser()
            && self.permitted(request, Action::Approve, &state.estate).is_ok();
        let decision = decision(state, approval.as_ref(), &report).filter(|_| may);
        let options = PageOptions { room: PAGE_ROOM };
        let mut page = Vec::new();
        // Writing to memory does not fail.
        let sends = match decision {
            Some(decision) => {
                let _ = write_decision_page(&report, &decision, options, &mut page);
                Sends::Form
            }
            None => {
                let _ = write_run_page(&report, options, &mut page);
                Sends::Nothing
            }
        };
        ApiResponse::page(200, page, sends)
    }

    pub(super) fn list_estates(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let principal = request.principal.as_ref().ok_or(ApiError::Nobody)?;
        let mut estates = Vec::new();
        for (name, settings) in &self.deployment.estates {
            if self.deployment.permits(principal, Action::Read, &named(name)?.0) {
                let (repository, branch) = (&settings.repository, &settings.branch);
                estates.push(json!({"name": name, "repository": repository, "branch": branch}));
            }
        }
        Ok(ApiResponse::json(200, &json!({"estates": estates})))
    }

    pub(super) async fn show_drift(
        &self,
        request: &ApiRequest,
        estate: &str,
    ) -> Result<ApiResponse, ApiError> {
        let estate = named(estate)?;
        self.permitted(request, Action::Read, &estate)?;
        let states = self.states.newest(&estate, SEARCHED).await?;
        let looked = |state: &&RunState| state.mode == Mode::Drift && state.status.is_final();
        let latest = states.iter().find(looked).map(summary);
        Ok(ApiResponse::json(200, &json!({"estate": estate.0.as_str(), "run": latest})))
    }
}

/// What there is to decide about a run: nobody decides about a plan that the page does not show, or for a second time.
fn decision<'r>(
    state: &'r RunState,
    approval: Option<&Approval>,
    report: &'r RunReport,
) -> Option<Decision<'r>> {
    let (plan, shown) = (state.plan.as_ref()?, report.plan.as_ref()?);
    let waits = state.status == Status::WaitingForApproval && approval.is_none();
    let shows_it = shown.id.as_deref() == Some(plan.id.as_str());
    let page = RunPage { estate: state.estate.0.as_str(), run: state.run.as_str() };
    let decision = Decision { page, plan: shown, plan_digest: &plan.plan_digest };
    (waits && shows_it).then_some(decision)
}

/// What may be seen of a run: never its task token.
fn summary(state: &RunState) -> Value {
    let report = Report::new(state, String::new(), None);
    let mut summary = serde_json::to_value(&report).unwrap_or_default();
    summary["requested"] = json!(state.requested);
    summary["author"] = json!(state.author.principal().as_str());
    summary["plan"] = json!(state.plan.as_ref().map(|plan| plan.id.as_str()));
    summary
}
