//! Verdicts: what the stages of a saved plan came to, as data.

use crate::identifiers::Principal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One named check of a saved plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Does the team's own policy agree to it?
    Policy,
}

/// What one check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A policy of the team's own objects.
    Policy,
}

impl RejectCode {
    /// As programs and payloads spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            RejectCode::Stale => "stale",
            RejectCode::Drifted => "drifted",
            RejectCode::Unauthentic => "unauthentic",
            RejectCode::Busy => "busy",
            RejectCode::InDoubt => "in_doubt",
            RejectCode::Policy => "policy",
        }
    }
}

/// The verdict of one stage on one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which check.
    pub stage: Stage,
    /// What it came to.
    pub outcome: Outcome,
    /// What kind of rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<RejectCode>,
    /// What was compared, and what was found, in a sentence.
    pub message: String,
    /// The instance or output concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The attribute concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What the plan rests on; masked where sensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<String>,
    /// What was found; masked where sensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The command or edit that mends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Who accepted the finding, so that it does not reject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived_by: Option<Principal>,
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
            waived_by: None,
        }
    }
}

impl Verdict {
    /// A rejection.
    pub fn reject(stage: Stage, code: RejectCode, message: impl Into<String>) -> Verdict {
        Verdict { code: Some(code), ..Verdict::new(stage, Outcome::Reject, message) }
    }
    /// On this instance or output.
    #[must_use]
    pub fn on(mut self, address: impl fmt::Display) -> Verdict {
        self.address = Some(address.to_string());
        self
    }
    /// With what the plan rests on and what was found.
    #[must_use]
    pub fn compared(mut self, planned: impl fmt::Display, actual: impl fmt::Display) -> Verdict {
        self.planned = Some(planned.to_string());
        self.actual = Some(actual.to_string());
        self
    }
    /// With the command or edit that mends it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Verdict {
        self.remedy = Some(remedy.into());
        self
    }
    /// Whether the plan must not be applied.
    pub fn is_reject(&self) -> bool {
        self.outcome == Outcome::Reject
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Snapshot => "snapshot",
            Stage::Authenticity => "authenticity",
            Stage::Lineage => "lineage",
            Stage::Serial => "serial",
            Stage::Records => "records",
            Stage::Resources => "resources",
            Stage::Upstream => "upstream",
            Stage::Policy => "policy",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Pass => "pass",
            Outcome::NotChecked => "not checked",
            Outcome::Warn => "warn",
            Outcome::Reject => "reject",
        })
    }
}

/// One line: `records: reject: …`, with address, attribute and remedy.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.stage, self.outcome)?;
        if let Some(address) = &self.address {
            write!(f, "{address}{}: ", self.path.as_deref().unwrap_or_default())?;
        }
        f.write_str(&self.message)?;
        if let (Some(planned), Some(actual)) = (&self.planned, &self.actual) {
            write!(f, " (planned {planned}, found {actual})")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}
