//! GitHub.

use super::api::{Api, segment};
use super::{HostError, RepositoryHost};
use crate::report::CommitState;
use crate::run_state::Commit;
use crate::secrets::Secret;
use async_trait::async_trait;
use bytes::Bytes;
use http::Method;
use http::header::AUTHORIZATION;
use providers::https::Https;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// A repository at GitHub.
pub struct GitHub {
    api: Api,
    /// `/repos/OWNER/NAME`
    repository: String,
}

#[derive(Deserialize)]
struct PullRequest {
    number: u64,
    #[serde(default)]
    merged_at: Option<String>,
    base: Base,
}

#[derive(Deserialize)]
struct Base {
    #[serde(rename = "ref")]
    branch: String,
}

impl GitHub {
    /// The repository `HOST/OWNER/NAME`, by the API at `api` or the host's usual one.
    pub fn new(
        https: Arc<dyn Https>,
        repository: &str,
        api: Option<&str>,
        token: Option<Secret>,
    ) -> GitHub {
        let (host, path) = repository.split_once('/').unwrap_or((repository, ""));
        let usual = match host {
            "github.com" => "https://api.github.com".to_owned(),
            host => format!("https://{host}/api/v3"),
        };
        let root = api.map(str::to_owned).unwrap_or(usual).trim_end_matches('/').to_owned();
        let bearer = |token: Secret| Secret::new(format!("Bearer {}", token.expose()));
        let token = token.map(|token| (AUTHORIZATION, bearer(token)));
        let accept = "application/vnd.github+json";
        let path: Vec<String> = path.split('/').map(segment).collect();
        GitHub {
            api: Api { https, root, token, accept },
            repository: format!("/repos/{}", path.join("/")),
        }
    }
}

#[async_trait]
impl RepositoryHost for GitHub {
    async fn archive(&self, commit: &Commit, limit: u64) -> Result<Bytes, HostError> {
        let path = format!("{}/tarball/{}", self.repository, segment(&commit.sha));
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
            CommitState::Failure => "failure",
        };
        let path = format!("{}/statuses/{}", self.repository, segment(&commit.sha));
        let mut body = json!({"state": state, "context": context, "description": description});
        if let Some(link) = link {
            body["target_url"] = json!(link);
        }
        self.api.write(Method::POST, &path, &body).await
    }

    async fn pull_request_of(&self, commit: &Commit) -> Result<Option<u64>, HostError> {
        let path = format!("{}/commits/{}/pulls", self.repository, segment(&commit.sha));
        let found: Vec<PullRequest> = self.api.get(&path).await?;
        let merged = |request: &&PullRequest| {
            request.merged_at.is_some() && request.base.branch == commit.branch
        };
        Ok(found.iter().find(merged).map(|request| request.number))
    }

    async fn put_comment(
        &self,
        _commit: &Commit,
        pull_request: u64,
        marker: &str,
        text: &str,
    ) -> Result<(), HostError> {
        let comments = format!("{}/issues/{pull_request}/comments", self.repository);
        let body = json!({"body": text});
        match self.api.comment(&comments, marker).await? {
            Some(ours) => {
                let path = format!("{}/issues/comments/{ours}", self.repository);
                self.api.write(Method::PATCH, &path, &body).await
            }
            None => self.api.write(Method::POST, &comments, &body).await,
        }
    }
}
