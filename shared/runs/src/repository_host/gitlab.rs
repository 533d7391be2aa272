//! GitLab.

use super::api::{Api, segment};
use super::{HostError, RepositoryHost};
use crate::report::CommitState;
use crate::run_state::Commit;
use crate::secrets::Secret;
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, Method};
use providers::https::Https;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// A project at GitLab.
pub struct GitLab {
    api: Api,
    /// `/projects/PATH`
    project: String,
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    state: String,
    target_branch: String,
}

impl GitLab {
    /// The project `HOST/GROUP/…/NAME`, by the API at `api` or the host's usual one.
    pub fn new(
        https: Arc<dyn Https>,
        repository: &str,
        api: Option<&str>,
        token: Option<Secret>,
    ) -> GitLab {
        let (host, path) = repository.split_once('/').unwrap_or((repository, ""));
        let root = api.map(str::to_owned).unwrap_or_else(|| format!("https://{host}/api/v4"));
        let root = root.trim_end_matches('/').to_owned();
        let token = token.map(|token| (HeaderName::from_static("private-token"), token));
        GitLab {
            api: Api { https, root, token, accept: "*/*" },
            project: format!("/projects/{}", segment(path)),
        }
    }
}

#[async_trait]
impl RepositoryHost for GitLab {
    async fn archive(&self, commit: &Commit, limit: u64) -> Result<Bytes, HostError> {
        let sha = segment(&commit.sha);
        let path = format!("{}/repository/archive.tar.gz?sha={sha}", self.project);
        self.api.get_bytes(&path, limit).await
    }

    async fn set_status(
        &self,
        commit: &Commit,
        context: &str,
        state: CommitState,
        description: &str,
        link: Option<&str>,
    ) -> Result<(), HostError> {
        let state = match state {
            CommitState::Pending => "pending",
            CommitState::Success => "success",
            CommitState::Failure => "failed",
        };
        let path = format!("{}/statuses/{}", self.project, segment(&commit.sha));
        let mut body = json!({"state": state, "name": context, "description": description});
        if let Some(link) = link {
            body["target_url"] = json!(link);
        }
        self.api.write(Method::POST, &path, &body).await
    }

    async fn pull_request_of(&self, commit: &Commit) -> Result<Option<u64>, HostError> {
        let (project, sha) = (&self.project, segment(&commit.sha));
        let path = format!("{project}/repository/commits/{sha}/merge_requests");
        let found: Vec<MergeRequest> = self.api.get(&path).await?;
        let merged = |request: &&MergeRequest| {
            request.state == "merged" && request.target_branch == commit.branch
        };
        Ok(found.iter().find(merged).map(|request| request.iid))
    }

    async fn put_comment(
        &self,
        _commit: &Commit,
        pull_request: u64,
        marker: &str,
        text: &str,
    ) -> Result<(), HostError> {
        let notes = format!("{}/merge_requests/{pull_request}/notes", self.project);
        let body = json!({"body": text});
        match self.api.comment(&notes, marker).await? {
            Some(ours) => {
                let path = format!("{notes}/{ours}");
                self.api.write(Method::PUT, &path, &body).await
            }
            None => self.api.write(Method::POST, &notes, &body).await,
        }
    }
}
