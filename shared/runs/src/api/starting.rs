//! Runs that somebody asks for.

use super::triggers::{by, named};
use super::{Api, ApiError, ApiRequest, ApiResponse};
use crate::approval::{self, Decision};
use crate::deployment::Action;
use crate::run_reference::Mode;
use crate::run_state::{Commit, NewRun, RunSource};
use engine::identifiers::RunId;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;

/// The body of `POST /runs`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartRun {
    estate: String,
    /// A commit of the estate's repository.
    commit: String,
    /// Whether to go on to an approval.
    #[serde(default)]
    apply: bool,
}

/// The body of `POST /plans/{plan}/apply`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApplyPlan {
    estate: String,
    /// The run that made the plan.
    run: String,
    plan_digest: String,
}

impl Api<'_> {
    pub(super) async fn start_run(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let body: StartRun = request.parsed()?;
        let estate = named(&body.estate)?;
        let principal = self.permitted(request, Action::Plan, &estate)?;
        let whole = matches!(body.commit.len(), 40 | 64)
            && body.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !whole {
            let problem = "commit is no full hash, so that it could come to mean another one";
            return Err(ApiError::Body(problem.to_owned()));
        }
        let settings = self.deployment.estates.get(&body.estate);
        let settings = settings
            .ok_or(ApiError::Forbidden { action: Action::Plan, estate: body.estate.clone() })?;
        let commit = Commit {
            repository: settings.repository.clone(),
            sha: body.commit.to_ascii_lowercase(),
            branch: settings.branch.clone(),
            pull_request: None,
        };
        let new = NewRun {
            run: RunId::new(&*self.environment.random),
            estate,
            mode: if body.apply { Mode::Deploy } else { Mode::Plan },
            source: RunSource::Commit(commit),
            author: by(principal),
            authors: BTreeSet::new(),
            bundle: None,
            plan: None,
        };
        let (state, _) = self.begin(new).await?;
        Ok(ApiResponse::json(202, &json!({"run": state.run.as_str()})))
    }

    /// Applies a plan that an earlier run made. Whoever asks for it agrees to it, and has to be somebody who may.
    pub(super) async fn apply_plan(
        &self,
        request: &ApiRequest,
        plan: &str,
    ) -> Result<ApiResponse, ApiError> {
        let body: ApplyPlan = request.parsed()?;
        let estate = named(&body.estate)?;
        let principal = self.permitted(request, Action::Apply, &estate)?;
        let made = self.states.read(&estate, &RunId::from_stored(body.run.as_str())).await?;
        let reference = made.plan.clone().filter(|reference| {
            reference.id.as_str() == plan && reference.plan_digest == body.plan_digest
        });
        let reference = reference
            .ok_or_else(|| ApiError::NoPlan { run: body.run.clone(), plan: plan.to_owned() })?;
        if self.deployment.approvals(&estate.0).required {
            self.permitted(request, Action::Approve, &estate)?;
            approval::check_author(&self.states, &self.deployment, &made, principal).await?;
        }
        let new = NewRun {
            run: RunId::new(&*self.environment.random),
            estate,
            mode: Mode::Apply,
            source: made.source.clone(),
            author: made.author.clone(),
            authors: made.authors.clone(),
            bundle: made.bundle.clone(),
            plan: Some(reference.clone()),
        };
        // The approval is there before the execution that asks for it.
        let run = new.run.clone();
        let (state, _) = self.states.begin(new).await?;
        approval::record(&self.states, &state, &reference, Decision::Approved, principal).await?;
        let input = json!({"run": state.reference()});
        self.executions.start(run.as_str(), &input).await?;
        Ok(ApiResponse::json(202, &json!({"run": run.as_str()})))
    }
}
