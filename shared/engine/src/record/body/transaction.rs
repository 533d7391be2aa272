use super::{Body, UnknownFields};
use crate::identifiers::{PlanId, Principal, RunId, WriteId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The digest of a plan that is in the memory of the process that applies it alone.
pub const UNSAVED: &str = "unsaved";

/// The one transaction of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionBody {
    /// Format of this body.
    pub format: u32,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// The plan.
    pub plan: PlanId,
    /// The plan's digest, in hexadecimal.
    pub plan_digest: String,
    /// The run.
    pub run: RunId,
    /// Who started it.
    pub principal: Principal,
    /// Who approved it, where approval was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<Principal>,
    /// How many invocations have worked on it, from 1.
    pub attempt: u32,
    /// When its lease ends, or ended, seconds since the epoch.
    pub lease_until: i64,
    /// Whether the lease was given back: the next invocation may begin at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// How far it is.
    pub phase: Phase,
    /// Attempts in a row that brought nothing forward.
    #[serde(default)]
    pub progressless_attempts: u32,
    /// For attempts that are over and whose last requests may still be on their way: from when on, seconds since the epoch,
    /// nothing that they sent can arrive any more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quiet_from: BTreeMap<u32, i64>,
    /// When its plan expires, seconds since the epoch: kept until then, so that the plan is used once.
    #[serde(default)]
    pub expires: i64,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

impl TransactionBody {
    /// Whether another invocation might go on with its plan, `now`: it has not expired, and is not gone with the process that
    /// had made it.
    pub fn can_go_on(&self, now: i64) -> bool {
        self.is_saved() && self.expires >= now
    }

    /// Whether its plan is in a file.
    pub(crate) fn is_saved(&self) -> bool {
        self.plan_digest != UNSAVED
    }
}

/// How far a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Checking; nothing was changed.
    Claiming,
    /// Put off; nothing was changed.
    Waiting,
    /// Refused for good; nothing was changed.
    Rejected,
    /// Decided; changing.
    Executing,
    /// Ended.
    Done,
    /// Died, and was settled by another.
    Fenced,
}

impl Phase {
    /// Whether the plan cannot be tried again.
    pub fn is_ended(self) -> bool {
        matches!(self, Phase::Rejected | Phase::Done | Phase::Fenced)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Claiming => "claiming",
            Phase::Waiting => "waiting",
            Phase::Rejected => "rejected",
            Phase::Executing => "executing",
            Phase::Done => "done",
            Phase::Fenced => "fenced",
        })
    }
}

impl Body for TransactionBody {
    fn format(&self) -> u32 {
        self.format
    }
}
