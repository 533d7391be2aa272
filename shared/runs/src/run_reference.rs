//! What states of a run hand on: references, never configuration, values or plans, so that execution histories hold no secret and no payload
//! grows with an estate.

use crate::artifact::ArtifactReference;
use engine::identifiers::{PlanId, RunId};
use engine::record::key::{EstateName, EstateNameError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Plan, and tell: pull requests.
    Plan,
    /// Plan, have it approved, apply it: pushes and requests.
    Deploy,
    /// Apply a plan that an earlier run made.
    Apply,
    /// Look for drift.
    Drift,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Plan => "plan",
            Mode::Deploy => "deploy",
            Mode::Apply => "apply",
            Mode::Drift => "drift",
        })
    }
}

/// An estate's name in a payload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EstateReference(pub EstateName);

impl TryFrom<String> for EstateReference {
    type Error = EstateNameError;
    fn try_from(name: String) -> Result<EstateReference, EstateNameError> {
        EstateName::new(&name).map(EstateReference)
    }
}

impl From<EstateReference> for String {
    fn from(name: EstateReference) -> String {
        name.0.as_str().to_owned()
    }
}

/// A saved plan, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanReference {
    /// Its id.
    pub id: PlanId,
    /// The digest that its MAC is made over, which is what people approve.
    pub plan_digest: String,
    /// The file.
    pub artifact: ArtifactReference,
}

/// A run as its states hand it on. Who started it, and for which commit, is in the run's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunReference {
    /// Its id, which is its execution's name too.
    pub run: RunId,
    /// The estate.
    pub estate: EstateReference,
    /// What for.
    pub mode: Mode,
    /// The configuration, once it was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<ArtifactReference>,
    /// The plan, once it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReference>,
}

/// What a function answers, so that the definition can choose the next state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The next state's turn.
    Success {
        /// The run since.
        run: RunReference,
    },
    /// There is a plan, and somebody has to agree to it.
    ApprovalRequired {
        /// The run since.
        run: RunReference,
    },
    /// There is nothing left to do: no changes, or none that this run may make.
    NothingToDo {
        /// The run since.
        run: RunReference,
    },
    /// A stage refuses the plan, or a policy does. Nothing was changed.
    Rejected {
        /// The run.
        run: RunReference,
        /// Why, for programs.
        code: String,
    },
    /// The invocation's time was up: the same call again goes on.
    Continue {
        /// The run.
        run: RunReference,
    },
    /// Another invocation or transaction is at work: the same call again, then.
    Busy {
        /// The run.
        run: RunReference,
        /// When, as the definition's wait takes it (RFC 3339).
        until: String,
    },
    /// It did not work. What was changed is recorded.
    Failed {
        /// The run.
        run: RunReference,
        /// Why, for programs.
        code: String,
    },
}

impl Answer {
    /// The run that the answer is about.
    pub fn run(&self) -> &RunReference {
        match self {
            Answer::Success { run }
            | Answer::ApprovalRequired { run }
            | Answer::NothingToDo { run }
            | Answer::Rejected { run, .. }
            | Answer::Continue { run }
            | Answer::Busy { run, .. }
            | Answer::Failed { run, .. } => run,
        }
    }
}

/// What a run came to, as the definition tells `report`: each way out of it names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Somebody has to agree to its plan. The only one that is no end.
    Waiting,
    /// All changes were made.
    Applied,
    /// The plan was made, and nothing is to be applied.
    Planned,
    /// A stage refused the plan.
    Rejected,
    /// Somebody said no.
    Declined,
    /// A newer push came.
    Superseded,
    /// Nobody agreed in time.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// It did not work.
    Failed,
}

/// What `report` is invoked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportInvocation {
    /// The run.
    pub run: RunReference,
    /// What it came to.
    pub outcome: Outcome,
    /// Why, for programs: the code of an answer, or the name of the definition's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What an approval answers to, where the run waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_token: Option<String>,
}

/// What `fetch`, `plan`, `validate` and `apply` are invoked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invocation {
    /// The run.
    pub run: RunReference,
}
