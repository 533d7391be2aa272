//! Webhooks and schedules.

use super::{Api, ApiError, ApiRequest, ApiResponse};
use crate::executions::ExecutionError;
use crate::run_reference::{EstateReference, Mode};
use crate::run_state::{Author, Begun, Commit, NewRun, RunSource, RunState, Status};
use crate::secrets::Secret;
use crate::webhook::{Asked, Delivery, GitHubWebhook, GitLabWebhook, Trigger, WebhookError};
use engine::identifiers::{Principal, RunId};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The error that the definition knows a superseded run by.
const SUPERSEDED: &str = "Superseded";
/// How many older runs are looked at: what waits does so for a day at most.
const LOOKED_AT: usize = 100;

impl Api<'_> {
    pub(super) async fn github(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let delivery = Delivery { headers: &request.headers, body: &request.body };
        let webhook = GitHubWebhook::read(delivery)?;
        let secret = self.webhook_secret(webhook.repository()).await?;
        self.asked(webhook.verify(&secret)?).await
    }

    pub(super) async fn gitlab(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let delivery = Delivery { headers: &request.headers, body: &request.body };
        let webhook = GitLabWebhook::read(delivery)?;
        let secret = self.webhook_secret(webhook.repository()).await?;
        self.asked(webhook.verify(&secret)?).await
    }

    async fn webhook_secret(&self, repository: &str) -> Result<Secret, ApiError> {
        let table = self.deployment.repositories.get(repository).ok_or(WebhookError::Unknown)?;
        Ok(self.secrets.read(&table.webhook_secret).await?)
    }

    async fn asked(&self, asked: Asked) -> Result<ApiResponse, ApiError> {
        let trigger = match asked {
            Asked::Runs(trigger) => trigger,
            Asked::Nothing(why) => {
                return Ok(ApiResponse::json(200, &json!({"runs": [], "reason": why})));
            }
        };
        let Trigger { commit, files, login, authors, mode } = trigger;
        let touched = self.deployment.touched(&commit.repository, &commit.branch, files.as_deref());
        let mut runs = Vec::new();
        for name in touched {
            let estate = named(name)?;
            let new = NewRun {
                run: run_of(&commit, &estate, mode),
                estate,
                mode,
                source: RunSource::Commit(commit.clone()),
                author: Author::Login(login.clone()),
                authors: authors.clone(),
                bundle: None,
                plan: None,
            };
            let (state, begun) = self.begin(new).await?;
            if begun == Begun::New && mode == Mode::Deploy {
                self.supersede(&state).await?;
            }
            runs.push(state.run.to_string());
        }
        Ok(ApiResponse::json(202, &json!({"runs": runs})))
    }

    /// Begins a run and its execution. A repeated request begins neither again, and mends what one left half done.
    pub(super) async fn begin(&self, new: NewRun) -> Result<(RunState, Begun), ApiError> {
        let (state, begun) = self.states.begin(new).await?;
        if !state.status.is_final() {
            let input = json!({"run": state.reference()});
            self.executions.start(state.run.as_str(), &input).await?;
        }
        Ok((state, begun))
    }

    /// Ends what waits of older pushes to the same branch: what it would apply is no longer what the branch says.
    async fn supersede(&self, by: &RunState) -> Result<(), ApiError> {
        let branch = by.commit().map(|commit| &commit.branch);
        for older in self.states.newest(&by.estate, LOOKED_AT).await? {
            let same = older.commit().map(|commit| &commit.branch) == branch;
            let waits = older.status == Status::WaitingForApproval;
            if older.run == by.run || older.mode != Mode::Deploy || !same || !waits {
                continue;
            }
            let Some(token) = &older.task_token else { continue };
            match self.executions.fail(token, SUPERSEDED).await {
                // Somebody answered it at the same time.
                Err(ExecutionError::NotWaiting) => {}
                ended => ended?,
            }
        }
        Ok(())
    }

    /// Begins looking for drift in every estate, or in those that are named: what a schedule asks for at `time`. The same
    /// time again begins nothing.
    ///
    /// # Errors
    /// Where a run cannot be begun; others may have been.
    pub async fn look_for_drift(&self, time: &str) -> Result<Vec<RunId>, ApiError> {
        let mut runs = Vec::new();
        for (name, estate) in &self.deployment.estates {
            let commit = Commit {
                repository: estate.repository.clone(),
                // The host knows which commit that is.
                sha: estate.branch.clone(),
                branch: estate.branch.clone(),
                pull_request: None,
            };
            let reference = named(name)?;
            let new = NewRun {
                run: digest(&[&commit.repository, time, name, &Mode::Drift.to_string()]),
                estate: reference,
                mode: Mode::Drift,
                source: RunSource::Commit(commit),
                author: Author::Schedule,
                authors: BTreeSet::new(),
                bundle: None,
                plan: None,
            };
            runs.push(self.begin(new).await?.0.run);
        }
        Ok(runs)
    }
}

pub(super) fn named(name: &str) -> Result<EstateReference, ApiError> {
    EstateReference::try_from(name.to_owned()).map_err(|error| ApiError::Body(error.to_string()))
}

/// Who asked, as an author.
pub(super) fn by(principal: &Principal) -> Author {
    Author::Principal(principal.clone())
}

/// The run of a commit: the same for a delivery that is repeated or replayed.
fn run_of(commit: &Commit, estate: &EstateReference, mode: Mode) -> RunId {
    digest(&[&commit.repository, &commit.sha, estate.0.as_str(), &mode.to_string()])
}

fn digest(parts: &[&str]) -> RunId {
    let mut hash = Sha256::new();
    for part in parts {
        // Lengths first, so that no two lists give the same bytes.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    RunId::from_stored(hex::encode(&hash.finalize()[..16]))
}
