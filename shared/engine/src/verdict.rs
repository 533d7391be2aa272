//! Verdicts: what the stages of a saved plan came to, as data.

use serde::Serialize;

/// One named check of a saved plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Did the records hold still while planning?
    Snapshot,
    /// Is the plan ours, whole, unexpired, unused, for this configuration and these providers?
    Authenticity,
    /// Is it for this estate?
    Lineage,
    /// Did other runs write meanwhile?
    Serial,
    /// Did the records that the plan rests on move?
    Records,
    /// Did the world move under the plan?
    Resources,
    /// Did the outputs of other estates move?
    Upstream,
}

/// What one check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As planned.
    Pass,
    /// Could not, or need not, be checked.
    NotChecked,
    /// Different, and harmless.
    Warn,
    /// The plan must not be applied.
    Reject,
}

/// What kind of rejection, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectCode {
    /// Recorded state moved.
    Stale,
    /// The world moved.
    Drifted,
    /// Not ours, damaged, expired or used.
    Unauthentic,
    /// Another transaction holds a claim.
    Busy,
    /// An object may exist that no record knows.
    InDoubt,
}

/// The verdict of one stage on one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Which check.
    pub stage: Stage,
    /// What it came to.
    pub outcome: Outcome,
    /// What kind of rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<RejectCode>,
    /// What was compared, and what was found, in a sentence.
    pub message: String,
    /// The instance or output concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The attribute concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What the plan rests on; masked where sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<String>,
    /// What was found; masked where sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The command or edit that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Verdict {
    /// A verdict on a stage as a whole.
    pub fn new(stage: Stage, outcome: Outcome, message: impl Into<String>) -> Verdict {
        Verdict {
            stage,
            outcome,
            code: None,
            message: message.into(),
            address: None,
            path: None,
            planned: None,
            actual: None,
            remedy: None,
        }
    }
}
