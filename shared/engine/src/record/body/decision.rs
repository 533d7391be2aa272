use super::{Body, UnknownFields};
use crate::identifiers::{Principal, RunId, WriteId};
use serde::{Deserialize, Serialize};

/// What a person decided about something that the records leave open; written once, in the journal, before it is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionBody {
    /// Format of this body.
    pub format: u32,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// The run: one for each decision.
    pub run: RunId,
    /// Who decided.
    pub principal: Principal,
    /// When, seconds since the epoch.
    pub decided: i64,
    /// The instance; empty where it is the whole estate.
    pub address: String,
    /// What is to be done.
    pub decision: Decided,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// The result of this run, which could not be recorded in its place, is recorded there.
    AdoptStray(RunId),
    /// A result that the store had not taken is recorded from this file.
    AdoptFile(String),
    /// The object that its provider knows by this identifier is the one that was in doubt.
    AdoptObject(String),
    /// The result of this run is dropped; its object is left to itself.
    DismissStray(RunId),
    /// What was in doubt does not exist, or is left to itself.
    DismissDoubt,
    /// The whole estate is recorded as this state file says.
    PushState(String),
}

impl Body for DecisionBody {
    fn format(&self) -> u32 {
        self.format
    }
}
