//! Reports: what became of a run, in words, and who is told.

mod comment;
mod details;
mod notifier;
mod recipients;
mod sns;
mod webhook;

pub use comment::{comment, status_line};
pub use details::run_report;
pub use notifier::{CommitState, HostNotifier, Notifier, NotifyError};
pub use recipients::recipients;
pub use sns::Topic;
pub use webhook::SignedWebhook;

use crate::run_reference::Mode;
use crate::run_state::{ChangeCounts, Commit, RunState, Status};
use serde::Serialize;
use url::form_urlencoded::byte_serialize;
use views::run_report::RunReport;

/// What became of a run. It holds no value of a configuration but what the views print, with sensitive ones masked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The run.
    pub run: String,
    /// The estate.
    pub estate: String,
    /// What the run was for.
    pub mode: Mode,
    /// How far it is.
    pub status: Status,
    /// Why it failed or was rejected, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What its plan changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeCounts>,
    /// Whether anything differs.
    pub has_changes: bool,
    /// The digest that an approval names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// Where to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What the steps said. For those who may see the repository; not sent elsewhere.
    #[serde(skip)]
    pub text: String,
    /// The same and more as a model, likewise.
    #[serde(skip)]
    pub details: Option<Box<RunReport>>,
}

impl Report {
    /// The report of a run's state, with what its steps said. `api` is the address of the deployment's API, where it has
    /// one.
    pub fn new(state: &RunState, text: String, api: Option<&str>) -> Report {
        let (run, estate) = (state.run.to_string(), state.estate.0.to_string());
        Report {
            link: api.map(|api| link(api, &estate, &run)),
            run,
            estate,
            mode: state.mode,
            status: state.status,
            code: state.code.clone(),
            changes: state.changes,
            has_changes: state.has_changes,
            plan_digest: state.plan.as_ref().map(|plan| plan.plan_digest.clone()),
            commit: state.commit().cloned(),
            text,
            details: None,
        }
    }
}

/// The address of a run: its page for a browser.
pub(crate) fn link(api: &str, estate: &str, run: &str) -> String {
    let estate: String = byte_serialize(estate.as_bytes()).collect();
    format!("{}/runs/{run}?estate={estate}", api.trim_end_matches('/'))
}
