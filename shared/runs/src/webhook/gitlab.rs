//! GitLab's webhooks.

use super::{
    Asked, Delivery, PushedCommit, Trigger, WebhookError, authors, branch, files, is_nothing,
    repository_name,
};
use crate::run_reference::Mode;
use crate::run_state::Commit;
use crate::secrets::Secret;
use hmac::{Hmac, Mac};
use serde::Deserialize;
use sha2::Sha256;
use std::collections::BTreeSet;

/// A delivery of GitLab, of which so far only the project is known that it claims to be about.
#[derive(Debug)]
pub struct GitLabWebhook<'a> {
    delivery: Delivery<'a>,
    event: String,
    repository: String,
}

#[derive(Deserialize)]
struct About {
    project: Option<Project>,
}

#[derive(Deserialize)]
struct Project {
    path_with_namespace: String,
    web_url: String,
}

#[derive(Deserialize)]
struct Push {
    #[serde(rename = "ref")]
    reference: String,
    after: String,
    user_username: String,
    #[serde(default)]
    total_commits_count: usize,
    #[serde(default)]
    commits: Vec<PushedCommit>,
}

#[derive(Deserialize)]
struct MergeRequestEvent {
    user: User,
    object_attributes: MergeRequest,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    #[serde(default)]
    action: String,
    /// There where an update brought commits.
    oldrev: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: u64,
    target_branch: String,
    last_commit: LastCommit,
}

#[derive(Deserialize)]
struct LastCommit {
    id: String,
}

impl<'a> GitLabWebhook<'a> {
    /// Looks which project a delivery claims to be about.
    ///
    /// # Errors
    /// Where it does not say.
    pub fn read(delivery: Delivery<'a>) -> Result<GitLabWebhook<'a>, WebhookError> {
        let event = delivery.headers.get("x-gitlab-event");
        let event = event.ok_or_else(|| WebhookError::Malformed("it names no event".into()))?;
        let about: About =
            serde_json::from_slice(delivery.body).map_err(|e| WebhookError::malformed(&e))?;
        let project = about.project.ok_or(WebhookError::Unknown)?;
        let repository =
            repository_name(&project.web_url, "gitlab.com", &project.path_with_namespace);
        Ok(GitLabWebhook { delivery, event: event.clone(), repository })
    }

    /// The repository that it claims to be about, whose token it has to bring.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Compares the token, in constant time, and says what is asked for.
    ///
    /// # Errors
    /// Where the token is missing or wrong, or the body is not understood.
    pub fn verify(&self, secret: &Secret) -> Result<Asked, WebhookError> {
        if secret.expose().is_empty() {
            return Err(WebhookError::Unauthentic("no secret is set"));
        }
        let token = self.delivery.headers.get("x-gitlab-token");
        let token = token.ok_or(WebhookError::Unauthentic("it has no token"))?;
        if !is_same(token, secret.expose()) {
            return Err(WebhookError::Unauthentic("its token is another"));
        }
        match self.event.as_str() {
            "Push Hook" => self.push(),
            "Merge Request Hook" => self.merge_request(),
            _ => Ok(Asked::Nothing("an event that nothing depends on")),
        }
    }

    fn push(&self) -> Result<Asked, WebhookError> {
        let push: Push =
            serde_json::from_slice(self.delivery.body).map_err(|e| WebhookError::malformed(&e))?;
        let Some(branch) = branch(&push.reference) else {
            return Ok(Asked::Nothing("a push of no branch"));
        };
        if is_nothing(&push.after) {
            return Ok(Asked::Nothing("a branch was deleted"));
        }
        // Of many commits GitLab tells the newest alone.
        let whole = !push.commits.is_empty() && push.commits.len() >= push.total_commits_count;
        let authors = authors(&push.commits);
        let files = whole.then(|| files(push.commits));
        Ok(Asked::Runs(Trigger {
            commit: self.commit(push.after, branch, None),
            files,
            login: push.user_username,
            authors,
            mode: Mode::Deploy,
        }))
    }

    fn merge_request(&self) -> Result<Asked, WebhookError> {
        let event: MergeRequestEvent =
            serde_json::from_slice(self.delivery.body).map_err(|e| WebhookError::malformed(&e))?;
        let request = event.object_attributes;
        let commits = match request.action.as_str() {
            "open" | "reopen" => true,
            "update" => request.oldrev.is_some(),
            _ => false,
        };
        if !commits {
            return Ok(Asked::Nothing("a merge request without new commits"));
        }
        // Whoever may fork would run providers with the account's credentials.
        if request.source_project_id != Some(request.target_project_id) {
            return Ok(Asked::Nothing("a merge request from a fork"));
        }
        let (sha, branch) = (request.last_commit.id, request.target_branch);
        Ok(Asked::Runs(Trigger {
            commit: self.commit(sha, branch, Some(request.iid)),
            files: None,
            login: event.user.username,
            // Nothing of it is ever applied.
            authors: BTreeSet::new(),
            mode: Mode::Plan,
        }))
    }

    fn commit(&self, sha: String, branch: String, pull_request: Option<u64>) -> Commit {
        Commit { repository: self.repository.clone(), sha, branch, pull_request }
    }
}

/// Compares without telling by its time where two texts differ: MACs of both under one key are compared.
fn is_same(a: &str, b: &str) -> bool {
    let mac = || Hmac::<Sha256>::new_from_slice(b"plumbline token").ok();
    let (Some(mut of_a), Some(mut of_b)) = (mac(), mac()) else { return false };
    of_a.update(a.as_bytes());
    of_b.update(b.as_bytes());
    of_a.verify_slice(&of_b.finalize().into_bytes()).is_ok()
}
