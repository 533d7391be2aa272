//! What is seen of runs and estates.

use super::triggers::named;
use super::{Api, ApiError, ApiRequest, ApiResponse, PAGE_ROOM};
use crate::deployment::Action;
use crate::report::Report;
use crate::run_reference::Mode;
use crate::run_state::RunState;
use crate::steps::{details, told};
use engine::identifiers::RunId;
use serde_json::{Value, json};
use views::page::{PageOptions, write_run_page};

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
            let api = request.address();
            let report = details(&self.states, &state, &stores, api.as_deref()).await;
            let mut page = Vec::new();
            // Writing to memory does not fail.
            let _ = write_run_page(&report, PageOptions { room: PAGE_ROOM }, &mut page);
            return Ok(ApiResponse::page(page));
        }
        let text = told(&state, &stores).await;
        let mut body = summary(&state);
        body["text"] = json!(text);
        Ok(ApiResponse::json(200, &body))
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

/// What may be seen of a run: never its task token.
fn summary(state: &RunState) -> Value {
    let report = Report::new(state, String::new(), None);
    let mut summary = serde_json::to_value(&report).unwrap_or_default();
    summary["requested"] = json!(state.requested);
    summary["author"] = json!(state.author.principal().as_str());
    summary["plan"] = json!(state.plan.as_ref().map(|plan| plan.id.as_str()));
    summary
}
