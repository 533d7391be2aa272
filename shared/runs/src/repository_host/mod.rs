//! Hosts of repositories: archives of commits, statuses and comments.

mod api;
mod github;
mod gitlab;

pub use github::GitHub;
pub use gitlab::GitLab;

use crate::deployment::{Deployment, RepositoryTable};
use crate::report::CommitState;
use crate::run_state::Commit;
use crate::secrets::{SecretError, Secrets};
use crate::steps::{ArchiveError, SourceArchives};
use async_trait::async_trait;
use bytes::Bytes;
use providers::https::Https;
use std::sync::Arc;

/// A host did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{host} {problem}")]
pub struct HostError {
    /// Its name.
    pub host: String,
    /// What it answers, and what mends it.
    pub problem: String,
    /// Whether the same request may succeed in a moment.
    pub may_pass: bool,
}

/// A host as one repository is reached there.
#[async_trait]
pub trait RepositoryHost: Send + Sync {
    /// The `.tar.gz` of a commit, with one folder around everything.
    ///
    /// # Errors
    /// Where the host refuses, or gives more than `limit` bytes.
    async fn archive(&self, commit: &Commit, limit: u64) -> Result<Bytes, HostError>;

    /// Sets a commit's status under a context of ours.
    ///
    /// # Errors
    /// Where the host refuses.
    async fn set_status(
        &self,
        commit: &Commit,
        context: &str,
        state: CommitState,
        description: &str,
        link: Option<&str>,
    ) -> Result<(), HostError>;

    /// The pull or merge request that brought a commit to its branch, if the host knows of one.
    ///
    /// # Errors
    /// Where the host refuses.
    async fn pull_request_of(&self, commit: &Commit) -> Result<Option<u64>, HostError>;

    /// Writes the one comment on a pull request that begins with a marker, or changes it.
    ///
    /// # Errors
    /// Where the host refuses.
    async fn put_comment(
        &self,
        commit: &Commit,
        pull_request: u64,
        marker: &str,
        text: &str,
    ) -> Result<(), HostError>;
}

/// The kinds of host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// GitHub, and GitHub Enterprise Server.
    GitHub,
    /// GitLab.
    GitLab,
}

impl HostKind {
    /// The kind of a repository's host, by its name.
    pub fn of(repository: &str) -> HostKind {
        let host = repository.split('/').next().unwrap_or_default();
        match host.split('.').any(|label| label == "gitlab") {
            true => HostKind::GitLab,
            false => HostKind::GitHub,
        }
    }
}

/// The hosts of all repositories of a deployment.
pub struct RepositoryHosts {
    /// Which repositories there are.
    pub deployment: Deployment,
    /// Their tokens.
    pub secrets: Arc<dyn Secrets>,
    /// The way to them.
    pub https: Arc<dyn Https>,
}

/// A repository cannot be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// It is not configured.
    #[error(
        "the repository {0} has no entry in deployment.toml; functions read no other than those that have"
    )]
    Unknown(String),
    /// Its token cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl RepositoryHosts {
    /// The host of a repository.
    ///
    /// # Errors
    /// Where the repository is not configured or its token cannot be read.
    pub async fn of(&self, repository: &str) -> Result<Arc<dyn RepositoryHost>, RepositoryError> {
        let unknown = || RepositoryError::Unknown(repository.to_owned());
        let table: &RepositoryTable =
            self.deployment.repositories.get(repository).ok_or_else(unknown)?;
        let token = match &table.token {
            Some(name) => Some(self.secrets.read(name).await?),
            None => None,
        };
        let (https, api) = (self.https.clone(), table.api.as_deref());
        Ok(match HostKind::of(repository) {
            HostKind::GitHub => Arc::new(GitHub::new(https, repository, api, token)),
            HostKind::GitLab => Arc::new(GitLab::new(https, repository, api, token)),
        })
    }
}

#[async_trait]
impl SourceArchives for RepositoryHosts {
    async fn archive(&self, commit: &Commit, limit: u64) -> Result<Bytes, ArchiveError> {
        let failed = |problem: String, may_pass: bool| ArchiveError {
            repository: commit.repository.clone(),
            commit: commit.sha.clone(),
            problem,
            may_pass,
        };
        let host =
            self.of(&commit.repository).await.map_err(|error| failed(error.to_string(), false))?;
        let archive = host.archive(commit, limit).await;
        archive.map_err(|error| failed(error.to_string(), error.may_pass))
    }
}
