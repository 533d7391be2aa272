use super::{Body, UnknownFields};
use crate::identifiers::{PlanId, Principal, RunId, WriteId};
use serde::{Deserialize, Serialize};

/// What one attempt of a run did; written once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalBody {
    /// Format of this body.
    pub format: u32,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// The run.
    pub run: RunId,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The plan.
    pub plan: PlanId,
    /// Who started the run.
    pub principal: Principal,
    /// Who approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<Principal>,
    /// Findings that a person accepted, as they were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<String>,
    /// When the attempt began, seconds since the epoch.
    pub started: i64,
    /// When it ended.
    pub ended: i64,
    /// What was done, in the order in which it was begun.
    pub entries: Vec<JournalEntry>,
    /// Outputs that were written.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

/// What was done with one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The instance.
    pub address: String,
    /// The deposed object, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// The action, as in Terraform's plan JSON; several for a replacement.
    pub action: Vec<String>,
    /// When it was begun, seconds since the epoch.
    #[serde(default)]
    pub started: i64,
    /// When its result was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
    /// What came of it.
    pub outcome: JournalOutcome,
}

/// What came of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalOutcome {
    /// Begun, and no result was recorded.
    Begun,
    /// Its result is in its record.
    Recorded,
    /// It failed, and what is left is in its record.
    Failed,
    /// It was stopped while its provider worked, and goes on later.
    Unfinished,
    /// Whether it was done cannot be found out.
    InDoubt,
    /// Its result is beside its record, which another run has changed.
    Stray,
    /// Its result is in a file, or nowhere, since the store could not be written.
    Unrecorded,
}

impl Body for JournalBody {
    fn format(&self) -> u32 {
        self.format
    }
}
