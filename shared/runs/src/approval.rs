//! Approvals: who agreed to which plan.
//!
//! An approval is a record of its own that is written once, by `api` alone. It names the plan by the digest that the plan's MAC is
//! made over, so that what is applied is what somebody looked at; apply reads it again, and believes no status.

use crate::deployment::Deployment;
use crate::project::Approvals;
use crate::run_reference::{EstateReference, Mode, PlanReference};
use crate::run_state::{Author, RunState, RunStateError, RunStates, Status};
use engine::identifiers::{PlanId, Principal, RunId};
use records::StoreError;
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;
const APPROVAL: &str = "approval";
/// Among how many older runs of an estate those are looked for that were not applied.
const LOOKED_AT: usize = 100;

/// What somebody decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The plan may be applied.
    Approved,
    /// It may not.
    Declined,
}

/// Who decided what about a plan. The first decision counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    format: u32,
    /// What.
    pub decision: Decision,
    /// The run.
    pub run: RunId,
    /// The plan.
    pub plan: PlanId,
    /// Its digest.
    pub plan_digest: String,
    /// Who.
    pub principal: Principal,
    /// When, seconds since the epoch.
    pub decided: i64,
}

/// An approval is refused, or there is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The states of older runs cannot be read.
    #[error(transparent)]
    State(#[from] RunStateError),
    /// The run does not wait.
    #[error("the run {run} does not wait for an approval: it is {status}")]
    NotWaiting {
        /// The run.
        run: RunId,
        /// What it is.
        status: Status,
    },
    /// Another plan was meant.
    #[error(
        "the plan of the run {run} has the digest {actual}, and {named} was named: what would be applied is not what was \
         looked at; read the plan again and name its digest"
    )]
    OtherPlan {
        /// The run.
        run: RunId,
        /// What was named.
        named: String,
        /// What the plan has.
        actual: String,
    },
    /// Who made the change must not approve it.
    #[error(
        "{principal} is an author of what this plan changes ({author}), and the estate wants another person to approve it; ask \
         one, or set approvals.author_may_approve in deployment.toml"
    )]
    OwnChange {
        /// Who tried.
        principal: Principal,
        /// The author.
        author: String,
    },
    /// It is not known who the approver is at the repository's host.
    #[error(
        "deployment.toml does not say which logins {principal} has at the host of the repository, so that it could be \
         an author of what this plan changes; add git_logins to its entry"
    )]
    UnmappedApprover {
        /// Who tried.
        principal: Principal,
    },
    /// Somebody decided before.
    #[error("{} {} the plan of this run before; the first decision counts", .0.principal, match .0.decision {
        Decision::Approved => "approved",
        Decision::Declined => "declined",
    })]
    Decided(Box<Approval>),
    /// Nobody agreed, and somebody has to.
    #[error(
        "nobody has approved the plan of the run {run}, and the estate wants it approved; POST /runs/{run}/approve with \
         its digest"
    )]
    Missing {
        /// The run.
        run: RunId,
    },
    /// The body cannot be read.
    #[error(
        "the approval of the run {run} cannot be read: {problem}; it was written by another version or by hand"
    )]
    Unreadable {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        problem: String,
    },
}

/// Whether a principal may decide about a run's plan that it names by digest. Whether it may approve at all is for
/// [`Deployment::permits`] to say; declining is always allowed to who may approve.
///
/// # Errors
/// With the rule that forbids it, and where the states of older runs cannot be read.
pub async fn check<'s>(
    states: &RunStates,
    deployment: &Deployment,
    state: &'s RunState,
    decision: Decision,
    principal: &Principal,
    plan_digest: &str,
) -> Result<&'s PlanReference, ApprovalError> {
    let run = &state.run;
    let not_waiting = || ApprovalError::NotWaiting { run: run.clone(), status: state.status };
    let plan = state.plan.as_ref().ok_or_else(not_waiting)?;
    if state.status != Status::WaitingForApproval {
        return Err(not_waiting());
    }
    if plan.plan_digest != plan_digest {
        return Err(ApprovalError::OtherPlan {
            run: run.clone(),
            named: plan_digest.to_owned(),
            actual: plan.plan_digest.clone(),
        });
    }
    if decision == Decision::Approved {
        check_author(states, deployment, state, principal).await?;
    }
    Ok(plan)
}

/// Whether the policy lets a principal approve the plan of a run: nobody does who asked for it, or pushed or wrote what it would
/// change.
pub(crate) async fn check_author(
    states: &RunStates,
    deployment: &Deployment,
    state: &RunState,
    principal: &Principal,
) -> Result<(), ApprovalError> {
    if deployment.approvals(&state.estate.0).author_may_approve {
        return Ok(());
    }
    let own = |author: String| ApprovalError::OwnChange { principal: principal.clone(), author };
    if matches!(&state.author, Author::Principal(author) if author == principal) {
        return Err(own(principal.to_string()));
    }
    let unapplied = unapplied(states, state).await?;
    let authors: Vec<&str> =
        std::iter::once(state).chain(&unapplied).flat_map(RunState::logins).collect();
    let table = deployment.principal(principal);
    let logins = table.map(|table| &table.git_logins).filter(|logins| !logins.is_empty());
    match logins {
        _ if authors.is_empty() => Ok(()),
        None => Err(ApprovalError::UnmappedApprover { principal: principal.clone() }),
        Some(logins) => {
            let is_own = |author: &&&str| logins.iter().any(|own| own.eq_ignore_ascii_case(author));
            match authors.iter().find(is_own) {
                Some(author) => Err(own((*author).to_owned())),
                None => Ok(()),
            }
        }
    }
}

/// The older runs whose changes the plan of a run makes too, since nobody has applied them: those for the same branch, back to one
/// after which all was as the branch said.
async fn unapplied(states: &RunStates, state: &RunState) -> Result<Vec<RunState>, RunStateError> {
    let branch = |run: &RunState| run.commit().map(|commit| commit.branch.clone());
    let is_older = |run: &RunState| {
        run.run != state.run
            && run.requested <= state.requested
            && matches!(run.mode, Mode::Deploy | Mode::Apply)
            && branch(run) == branch(state)
    };
    let settles = |run: &RunState| matches!(run.status, Status::Applied | Status::NothingToDo);
    let is_last = |run: &RunState| is_older(run) && settles(run);
    let mut found = states.newest_until(&state.estate, LOOKED_AT, is_last).await?;
    found.retain(|run| is_older(run) && !settles(run));
    Ok(found)
}

/// Writes a decision down. The same decision by the same principal again is no error.
///
/// # Errors
/// Where somebody decided otherwise before, or the store fails.
pub async fn record(
    states: &RunStates,
    state: &RunState,
    plan: &PlanReference,
    decision: Decision,
    principal: &Principal,
) -> Result<Approval, ApprovalError> {
    let approval = Approval {
        format: FORMAT,
        decision,
        run: state.run.clone(),
        plan: plan.id.clone(),
        plan_digest: plan.plan_digest.clone(),
        principal: principal.clone(),
        decided: states.clock().seconds(),
    };
    let key = RunStates::key(&state.estate, &state.run, APPROVAL)?;
    // A structure of texts and numbers always has a JSON form.
    let body = serde_json::to_vec(&approval).unwrap_or_default();
    match states.store().put_if_absent(&key, body.into()).await {
        Ok(_) => Ok(approval),
        Err(StoreError::Conflict { .. }) => match find(states, &state.estate, &state.run).await? {
            Some(before) if before.decision == decision && before.principal == *principal => {
                Ok(before)
            }
            Some(before) => Err(ApprovalError::Decided(Box::new(before))),
            None => Err(ApprovalError::Missing { run: state.run.clone() }),
        },
        Err(error) => Err(error.into()),
    }
}

/// What was decided about a run's plan, if anything was.
///
/// # Errors
/// Where it cannot be read.
pub async fn find(
    states: &RunStates,
    estate: &EstateReference,
    run: &RunId,
) -> Result<Option<Approval>, ApprovalError> {
    let key = RunStates::key(estate, run, APPROVAL)?;
    let Some(record) = states.store().get(&key).await? else { return Ok(None) };
    let unreadable = |problem| ApprovalError::Unreadable { run: run.clone(), problem };
    let approval: Approval =
        serde_json::from_slice(&record.body).map_err(|error| unreadable(error.to_string()))?;
    match approval.format {
        FORMAT => Ok(Some(approval)),
        other => Err(unreadable(format!("its format is {other}"))),
    }
}

/// Who approved a plan that is about to be applied; `None` where nobody has to.
///
/// # Errors
/// Where somebody has to and nobody did, or another plan was approved.
pub async fn require(
    states: &RunStates,
    policy: &Approvals,
    estate: &EstateReference,
    run: &RunId,
    plan: &PlanReference,
) -> Result<Option<Principal>, ApprovalError> {
    let missing = || ApprovalError::Missing { run: run.clone() };
    match find(states, estate, run).await? {
        Some(approval) if approval.decision == Decision::Declined => Err(missing()),
        Some(approval) if approval.plan_digest != plan.plan_digest => {
            Err(ApprovalError::OtherPlan {
                run: run.clone(),
                named: approval.plan_digest,
                actual: plan.plan_digest.clone(),
            })
        }
        Some(approval) => Ok(Some(approval.principal)),
        None if policy.required => Err(missing()),
        None => Ok(None),
    }
}
