//! What is seen of runs and estates.

use super::triggers::named;
use super::{Api, ApiError, ApiRequest, ApiResponse};
use crate::deployment::Action;
use crate::report::Report;
use crate::run_reference::Mode;
use crate::run_state::RunState;
use crate::steps::told;
use engine::identifiers::RunId;
use serde_json::{Value, json};

/// Runs of one list.
const LISTED: usize = 50;

impl Api<'_> {
    pub(super) async fn list_runs(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let estate = request.estate()?;
        self.permitted(request, Action::Read, &estate)?;
        let states = self.states.list(&estate).await?;
        let runs: Vec<Value> = states.iter().take(LISTED).map(summary).collect();
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
        let text = told(&state, &stores).await;
        let accepted = request.headers.get("accept").map(String::as_str).unwrap_or_default();
        if accepted.split(',').any(|kind| kind.trim().starts_with("text/html")) {
            return Ok(page(&state, &text));
        }
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
        let states = self.states.list(&estate).await?;
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

/// A run for a browser.
fn page(state: &RunState, text: &str) -> ApiResponse {
    let (run, estate) = (escaped(state.run.as_str()), escaped(state.estate.0.as_str()));
    let digest = state.plan.as_ref().map(|plan| escaped(&plan.plan_digest)).unwrap_or_default();
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{estate}: {status}</title></head>\n\
         <body><h1>{estate}: {status}</h1>\n<dl><dt>Run</dt><dd>{run}</dd><dt>Mode</dt><dd>{mode}</dd>\
         <dt>Plan digest</dt><dd>{digest}</dd></dl>\n<pre>{text}</pre></body></html>\n",
        status = escaped(&state.status.to_string()),
        mode = state.mode,
        text = escaped(text),
    );
    ApiResponse { status: 200, content_type: "text/html; charset=utf-8", body }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
