//! Who is told of a run.

use super::{Report, comment, comment::marker, status_line};
use crate::repository_host::RepositoryHost;
use crate::run_reference::Mode;
use crate::run_state::Status;
use async_trait::async_trait;
use std::sync::Arc;

/// Somebody was not told. The run is none the worse for it.
#[derive(Debug, thiserror::Error)]
#[error("{to} was not told: {problem}")]
pub struct NotifyError {
    /// Who.
    pub to: String,
    /// Why not.
    pub problem: String,
}

/// Somebody who is told of runs.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Tells of a run. The same report again changes nothing for whoever is told.
    ///
    /// # Errors
    /// Where it did not arrive.
    async fn notify(&self, report: &Report) -> Result<(), NotifyError>;
}

/// What a commit's status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitState {
    /// Something is still to come.
    Pending,
    /// It ended well.
    Success,
    /// It did not.
    Failure,
}

impl CommitState {
    /// The state for a run's status.
    pub fn of(status: Status) -> CommitState {
        match status.is_final() {
            false => CommitState::Pending,
            true if status.is_success() => CommitState::Success,
            true => CommitState::Failure,
        }
    }
}

/// Tells the host of the repository: the commit's status, and a comment on its pull request.
pub struct HostNotifier(pub Arc<dyn RepositoryHost>);

#[async_trait]
impl Notifier for HostNotifier {
    async fn notify(&self, report: &Report) -> Result<(), NotifyError> {
        let Some(commit) = &report.commit else { return Ok(()) };
        let failed = |error: &dyn std::fmt::Display| NotifyError {
            to: commit.repository.clone(),
            problem: error.to_string(),
        };
        let context = format!("plumbline/{}", report.estate);
        let (state, line) = (CommitState::of(report.status), status_line(report));
        let told = self.0.set_status(commit, &context, state, &line, report.link.as_deref()).await;
        told.map_err(|error| failed(&error))?;
        // What a pull request has brought is approved and applied by a later run, of which its readers hear in the same place.
        let number = match commit.pull_request {
            None if report.mode == Mode::Plan => None,
            None => self.0.pull_request_of(commit).await.map_err(|error| failed(&error))?,
            number => number,
        };
        if let Some(number) = number {
            let (marker, text) = (marker(&report.estate), comment(report));
            let told = self.0.put_comment(commit, number, &marker, &text).await;
            told.map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}
