//! GitHub's webhooks.

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

/// Commits of one push that GitHub tells of, at most; of more it leaves some out.
const COMMITS: usize = 2_048;

/// A delivery of GitHub, of which so far only the repository is known that it claims to be about.
#[derive(Debug)]
pub struct GitHubWebhook<'a> {
    delivery: Delivery<'a>,
    event: String,
    repository: String,
}

#[derive(Deserialize)]
struct About {
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
    #[serde(default)]
    html_url: String,
}

#[derive(Deserialize)]
struct Push {
    #[serde(rename = "ref")]
    reference: String,
    after: String,
    #[serde(default)]
    forced: bool,
    #[serde(default)]
    commits: Vec<PushedCommit>,
    sender: User,
}

#[derive(Deserialize)]
struct User {
    login: String,
}

#[derive(Deserialize)]
struct PullRequestEvent {
    action: String,
    number: u64,
    pull_request: PullRequest,
}

#[derive(Deserialize)]
struct PullRequest {
    user: User,
    head: End,
    base: End,
}

#[derive(Deserialize)]
struct End {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    /// Gone where a fork was removed.
    repo: Option<Repository>,
}

impl<'a> GitHubWebhook<'a> {
    /// Looks which repository a delivery claims to be about.
    ///
    /// # Errors
    /// Where it does not say.
    pub fn read(delivery: Delivery<'a>) -> Result<GitHubWebhook<'a>, WebhookError> {
        let event = delivery.headers.get("x-github-event");
        let event = event.ok_or_else(|| WebhookError::Malformed("it names no event".into()))?;
        let about: About =
            serde_json::from_slice(delivery.body).map_err(|e| WebhookError::malformed(&e))?;
        let repository = about.repository.ok_or(WebhookError::Unknown)?;
        let repository = repository_name(&repository.html_url, "github.com", &repository.full_name);
        Ok(GitHubWebhook { delivery, event: event.clone(), repository })
    }

    /// The repository that it claims to be about, whose secret has to have signed it.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Verifies the signature, in constant time, and says what is asked for.
    ///
    /// # Errors
    /// Where the signature is missing or wrong, or the body is not understood.
    pub fn verify(&self, secret: &Secret) -> Result<Asked, WebhookError> {
        if secret.expose().is_empty() {
            return Err(WebhookError::Unauthentic("no secret is set"));
        }
        let header = self.delivery.headers.get("x-hub-signature-256");
        let header = header.ok_or(WebhookError::Unauthentic("it has no signature"))?;
        let signature =
            header.strip_prefix("sha256=").and_then(|hexadecimal| hex::decode(hexadecimal).ok());
        let signature = signature.ok_or(WebhookError::Unauthentic("its signature is none"))?;
        let mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes());
        let mut mac = mac.map_err(|_| WebhookError::Unauthentic("the secret is none"))?;
        mac.update(self.delivery.body);
        mac.verify_slice(&signature)
            .map_err(|_| WebhookError::Unauthentic("its signature is another secret's"))?;
        match self.event.as_str() {
            "push" => self.push(),
            "pull_request" => self.pull_request(),
            "ping" => Ok(Asked::Nothing("a ping")),
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
        // A forced push takes commits away, of which it does not tell.
        let whole = !push.forced && !push.commits.is_empty() && push.commits.len() < COMMITS;
        let authors = authors(&push.commits);
        let files = whole.then(|| files(push.commits));
        Ok(Asked::Runs(Trigger {
            commit: self.commit(push.after, branch, None),
            files,
            login: push.sender.login,
            authors,
            mode: Mode::Deploy,
        }))
    }

    fn pull_request(&self) -> Result<Asked, WebhookError> {
        let event: PullRequestEvent =
            serde_json::from_slice(self.delivery.body).map_err(|e| WebhookError::malformed(&e))?;
        if !matches!(event.action.as_str(), "opened" | "synchronize" | "reopened") {
            return Ok(Asked::Nothing("a pull request without new commits"));
        }
        let PullRequest { user, head, base } = event.pull_request;
        // Whoever may fork would run providers with the account's credentials.
        let same = match (&head.repo, &base.repo) {
            (Some(head), Some(base)) => head.full_name == base.full_name,
            _ => false,
        };
        if !same {
            return Ok(Asked::Nothing("a pull request from a fork"));
        }
        Ok(Asked::Runs(Trigger {
            commit: self.commit(head.sha, base.branch, Some(event.number)),
            files: None,
            login: user.login,
            // Nothing of it is ever applied.
            authors: BTreeSet::new(),
            mode: Mode::Plan,
        }))
    }

    fn commit(&self, sha: String, branch: String, pull_request: Option<u64>) -> Commit {
        Commit { repository: self.repository.clone(), sha, branch, pull_request }
    }
}
