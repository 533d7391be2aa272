//! Webhooks: what a repository's host tells of pushes and pull requests, once it was proved to come from there.

mod github;
mod gitlab;

pub use github::GitHubWebhook;
pub use gitlab::GitLabWebhook;

use crate::run_reference::Mode;
use crate::run_state::Commit;
use bytes::Bytes;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A request as it came. Names of headers are in lower case.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Its headers.
    pub headers: &'a BTreeMap<String, String>,
    /// Its body, byte for byte: the signature is made over it.
    pub body: &'a Bytes,
}

/// Something that asks for runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The commit to plan.
    pub commit: Commit,
    /// The files that changed; `None` where the host does not say, or not all of them.
    pub files: Option<Vec<String>>,
    /// The login of who is behind it.
    pub login: String,
    /// Who wrote the commits that it brings, as far as the host tells: logins, or addresses of e-mail where it knows no login.
    pub authors: BTreeSet<String>,
    /// Whether to go on to an approval, or to end with the plan.
    pub mode: Mode,
}

/// What a delivery asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Runs.
    Runs(Trigger),
    /// Nothing, and why.
    Nothing(&'static str),
}

/// A delivery is not believed or not understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// It does not prove where it comes from.
    #[error(
        "the delivery is not authentic: {0}; give the webhook at the repository's host the secret that deployment.toml names"
    )]
    Unauthentic(&'static str),
    /// The repository is not configured.
    #[error("the repository has no entry in deployment.toml")]
    Unknown,
    /// It is not what the host sends.
    #[error("the delivery is not understood: {0}")]
    Malformed(String),
}

impl WebhookError {
    fn malformed(error: &serde_json::Error) -> WebhookError {
        // Line and column; the text of a body that nobody vouches for is repeated nowhere.
        WebhookError::Malformed(format!("line {}, column {}", error.line(), error.column()))
    }
}

/// A commit of a push, as both hosts tell of it.
#[derive(Deserialize)]
struct PushedCommit {
    #[serde(default)]
    added: Vec<String>,
    #[serde(default)]
    modified: Vec<String>,
    #[serde(default)]
    removed: Vec<String>,
    #[serde(default)]
    author: Option<CommitAuthor>,
}

/// Who wrote a commit, as git has it.
#[derive(Deserialize)]
struct CommitAuthor {
    /// The login, where the host knows whose address it is.
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    email: Option<String>,
}

/// Who wrote commits.
fn authors(commits: &[PushedCommit]) -> BTreeSet<String> {
    let authors = commits.iter().filter_map(|commit| commit.author.as_ref());
    let known = |name: &&String| !name.is_empty();
    let names = authors.filter_map(|author| {
        author.username.as_ref().filter(known).or(author.email.as_ref().filter(known))
    });
    names.cloned().collect()
}

/// The files that commits touch.
fn files(commits: Vec<PushedCommit>) -> Vec<String> {
    let commits = commits.into_iter();
    commits.flat_map(|commit| [commit.added, commit.modified, commit.removed].concat()).collect()
}

/// The host and the path of a repository whose page is at `page`.
fn repository_name(page: &str, usual_host: &str, path: &str) -> String {
    let address = page.split_once("://").map(|(_, rest)| rest);
    let host = address.and_then(|rest| rest.split('/').next()).unwrap_or(usual_host);
    format!("{host}/{path}")
}

/// The branch of a reference; `None` for tags and the like.
fn branch(reference: &str) -> Option<String> {
    reference.strip_prefix("refs/heads/").map(str::to_owned)
}

/// Whether a commit's hash stands for "no commit": what a deleted branch has.
fn is_nothing(sha: &str) -> bool {
    sha.bytes().all(|byte| byte == b'0')
}
