//! Reporting: a run's end, or its wait for an approval, in; everybody told out.

use super::{StepError, refuse_stopped};
use crate::approval::{self, Approval};
use crate::artifact::{self, ArtifactReference};
use crate::function_environment::FunctionEnvironment;
use crate::report::{Notifier, NotifyError, Report, run_report};
use crate::run_reference::{Answer, Outcome, ReportInvocation};
use crate::run_state::{RunState, RunStateError, RunStates, Status};
use crate::stores::Stores;
use views::run_report::{Message, RunReport, StepReport};

/// What a report came to.
#[derive(Debug)]
pub struct Reported {
    /// What the definition chooses by.
    pub answer: Answer,
    /// Who was not told. The run is none the worse for it.
    pub failures: Vec<NotifyError>,
}

/// Gives a run its status, and tells of it. `notifiers` are made from the run's state, whose repository is among those who
/// are told; `api` is the address of the deployment's API.
///
/// # Errors
/// Where the state cannot be read or written; [`StepError::Cancelled`] where the run would wait for an approval, and somebody has
/// stopped it.
pub async fn report<F>(
    environment: &FunctionEnvironment,
    invocation: ReportInvocation,
    api: Option<&str>,
    notifiers: impl FnOnce(RunState) -> F,
) -> Result<Reported, StepError>
where
    F: Future<Output = Vec<Result<Box<dyn Notifier>, NotifyError>>>,
{
    let ReportInvocation { run, outcome, code, task_token } = invocation;
    let states = environment.run_states().await?;
    let state = settle(&states, &run, outcome, code, task_token).await?;
    if outcome == Outcome::Waiting {
        refuse_stopped(&state)?;
    }
    let stores = environment.stores(&run.estate.0).await?;
    let approval = decided(&states, &state).await;
    let details = details(&state, approval.as_ref(), &stores, api).await;
    let text = told(&state, &stores).await;
    let report = Report { details: Some(Box::new(details)), ..Report::new(&state, text, api) };
    let mut failures = Vec::new();
    for notifier in notifiers(state).await {
        let told = match notifier {
            Ok(notifier) => notifier.notify(&report).await,
            Err(error) => Err(error),
        };
        failures.extend(told.err());
    }
    let answer = match (report.status, report.status.is_success()) {
        (Status::WaitingForApproval, _) | (_, true) => Answer::Success { run },
        (_, false) => {
            let code = report.code.unwrap_or_else(|| report.status.to_string());
            Answer::Failed { run, code }
        }
    };
    Ok(Reported { answer, failures })
}

/// Writes the status. One that is final already stays, so that a repeated report tells the same.
async fn settle(
    states: &RunStates,
    run: &crate::run_reference::RunReference,
    outcome: Outcome,
    code: Option<String>,
    task_token: Option<String>,
) -> Result<RunState, RunStateError> {
    let changed = states.change(&run.estate, &run.run, |state| {
        if outcome == Outcome::Waiting && state.cancelled_by.is_some() {
            // Nobody is asked: whoever stopped it found nothing that waited.
            return;
        }
        state.status = status(outcome, code.as_deref(), state);
        // What a step has noted says more than the name of an error.
        state.code = state.code.take().or_else(|| code.clone());
        state.task_token = task_token.clone();
    });
    match changed.await {
        Err(RunStateError::Ended { .. }) => states.read(&run.estate, &run.run).await,
        changed => changed,
    }
}

fn status(outcome: Outcome, code: Option<&str>, state: &RunState) -> Status {
    match outcome {
        Outcome::Waiting => Status::WaitingForApproval,
        Outcome::Applied => Status::Applied,
        Outcome::Planned if state.has_changes => Status::Told,
        Outcome::Planned => Status::NothingToDo,
        Outcome::Rejected => Status::Rejected,
        Outcome::Declined => Status::Declined,
        Outcome::Superseded => Status::Superseded,
        Outcome::TimedOut => Status::TimedOut,
        Outcome::Cancelled => Status::Cancelled,
        Outcome::Failed if code == Some(super::CANCELLED) => Status::Cancelled,
        Outcome::Failed => Status::Failed,
    }
}

/// What was decided about a run's plan. An approval that cannot be read is passed over: a report without it is better than none.
pub(crate) async fn decided(states: &RunStates, state: &RunState) -> Option<Approval> {
    approval::find(states, &state.estate, &state.run).await.ok().flatten()
}

/// All that is told of a run. Parts that are gone are passed over.
pub(crate) async fn details(
    state: &RunState,
    approval: Option<&Approval>,
    stores: &Stores,
    api: Option<&str>,
) -> RunReport {
    let mut report = run_report(state, approval, parts(state, stores).await, api);
    let bare = report.plan.is_none() && report.messages.is_empty();
    let text = match (bare, &state.held_up) {
        (true, _) => told(state, stores).await,
        // What holds a step up stands in no part, since it may pass.
        (false, Some(note)) => noted(note, stores).await.unwrap_or_default(),
        (false, None) => String::new(),
    };
    if !text.trim().is_empty() {
        report.messages.push(Message { error: state.held_up.is_some(), text });
    }
    report
}

/// What the steps said, as parts of a report.
pub(crate) async fn parts(state: &RunState, stores: &Stores) -> Vec<StepReport> {
    let mut parts = Vec::new();
    for part in &state.parts {
        if let Ok(part) = artifact::get(&*stores.artifacts, part).await {
            parts.extend(serde_json::from_slice::<StepReport>(&part).ok());
        }
    }
    parts
}

/// What the steps said, and what the last one could not get over. Notes that are gone are passed over: a report without them is better than none.
pub(crate) async fn told(state: &RunState, stores: &Stores) -> String {
    let mut text = String::new();
    for note in state.notes.iter().chain(&state.held_up) {
        if let Some(note) = noted(note, stores).await {
            text.push_str(&note);
            text.push('\n');
        }
    }
    text
}

async fn noted(note: &ArtifactReference, stores: &Stores) -> Option<String> {
    let note = artifact::get(&*stores.artifacts, note).await.ok()?;
    Some(String::from_utf8_lossy(&note).into_owned())
}
