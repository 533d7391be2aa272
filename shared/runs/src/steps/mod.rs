//! The steps of a run, one for each function: references in, references out.
//!
//! A step answers what the definition chooses by ([`Answer`]). What people read of it goes into a note, an artifact with sensitive
//! values masked; an error that may pass is no answer, so that the definition repeats the step.

mod apply;
mod error;
mod fetch;
mod modules;
mod plan;
mod report;
mod tell;
mod validate;
mod variables;

pub use apply::apply;
pub use error::StepError;
pub use fetch::{ArchiveError, SourceArchives, fetch};
pub use plan::plan;
pub use report::{Reported, report};
pub(crate) use report::{decided, details, parts, told};
pub use validate::validate;

use crate::artifact::{self, ArtifactReference};
use crate::discretion::Discretion;
use crate::function_environment::{FunctionEnvironment, FunctionEnvironmentError, OpenBundle};
use crate::run_reference::{Answer, Invocation, PlanReference, RunReference};
use crate::run_state::{RunState, RunStateError, RunStates};
use crate::stores::Stores;
use jiff::Timestamp;
use std::future::Future;
use tell::Told;

/// What the code of an answer says where a person stopped the run.
const CANCELLED: &str = "cancelled";

/// A step at work.
struct Step<'a> {
    environment: &'a FunctionEnvironment,
    states: RunStates,
    state: RunState,
    stores: Stores,
    run: RunReference,
    /// What nobody is told.
    discretion: Discretion,
}

impl Step<'_> {
    /// The bundle that the run has fetched.
    async fn bundle(&self) -> Result<OpenBundle, StepError> {
        let bundle = self.run.bundle.as_ref();
        let reference = bundle.ok_or(StepError::MissingReference { what: "bundle" })?;
        let (artifacts, estate) = (&*self.stores.artifacts, &self.run.estate.0);
        Ok(self.environment.open_bundle(artifacts, reference, estate).await?)
    }

    /// The plan that the run has made.
    fn plan(&self) -> Result<&PlanReference, StepError> {
        self.run.plan.as_ref().ok_or(StepError::MissingReference { what: "plan" })
    }

    /// Changes the run's state, and keeps what a person is told with it.
    async fn note(
        &mut self,
        told: Told,
        change: impl Fn(&mut RunState) + Send + Sync,
    ) -> Result<(), StepError> {
        let (text, part) = told.into_parts();
        let note = match text.is_empty() {
            true => None,
            false => Some(self.kept(&text).await?),
        };
        let part = match part {
            None => None,
            Some(part) => {
                let part = self.discretion.conceal_report(&part).into();
                Some(artifact::put_by_digest(&*self.stores.artifacts, "notes", part).await?)
            }
        };
        let changed = self.states.change(&self.run.estate, &self.run.run, |state| {
            // A step that is repeated says the same once.
            if let Some(note) = note.as_ref().filter(|note| !state.notes.contains(note)) {
                state.notes.push(note.clone());
            }
            state.held_up = None;
            if let Some(part) = part.as_ref().filter(|part| !state.parts.contains(part)) {
                state.parts.push(part.clone());
            }
            change(state);
        });
        self.state = changed.await?;
        Ok(())
    }

    /// Keeps what the step does not get over, until it has come to an end: should it be repeated in vain, the report says why.
    async fn held_up(&self, text: &str) -> Result<(), StepError> {
        let note = self.kept(text).await?;
        let change = |state: &mut RunState| state.held_up = Some(note.clone());
        self.states.change(&self.run.estate, &self.run.run, change).await?;
        Ok(())
    }

    /// A text for people, where it is kept.
    async fn kept(&self, text: &str) -> Result<ArtifactReference, StepError> {
        let text = self.discretion.conceal(text).into_bytes().into();
        Ok(artifact::put_by_digest(&*self.stores.artifacts, "notes", text).await?)
    }

    /// An answer that ends the run, with what a person is told.
    async fn failed(&mut self, code: &str, told: Told) -> Result<Answer, StepError> {
        self.note(told, |state| state.code = Some(code.to_owned())).await?;
        Ok(Answer::Failed { run: self.run.clone(), code: code.to_owned() })
    }
}

/// Does a step: what may pass is an error, and whatever else goes wrong an answer.
async fn step<'a, F>(
    environment: &'a FunctionEnvironment,
    invocation: Invocation,
    work: impl FnOnce(Step<'a>) -> F,
) -> Result<Answer, StepError>
where
    F: Future<Output = Result<Answer, StepError>>,
{
    let run = invocation.run;
    let opened = open(environment, run.clone()).await;
    let answer = match opened.and_then(|step| refuse_stopped(&step.state).map(|()| step)) {
        Ok(step) => work(step).await,
        Err(error) => Err(error),
    };
    let error = match answer {
        Err(error) => error,
        answer => return answer,
    };
    let step = open(environment, run.clone()).await;
    // What cannot be noted is no reason to fail otherwise.
    if error.may_pass() {
        if let Ok(step) = step {
            let _ = step.held_up(&format!("Error: {error}\n")).await;
        }
        return Err(error);
    }
    let code = error.code();
    if let Ok(mut step) = step {
        let _ = step.failed(&code, Told::error(format!("Error: {error}"))).await;
    }
    Ok(Answer::Failed { run, code })
}

/// Nothing more is begun for a run that somebody stopped.
fn refuse_stopped(state: &RunState) -> Result<(), StepError> {
    match &state.cancelled_by {
        Some(by) => Err(StepError::Cancelled { by: by.clone() }),
        None => Ok(()),
    }
}

async fn open(environment: &FunctionEnvironment, run: RunReference) -> Result<Step<'_>, StepError> {
    let states = environment.run_states().await?;
    let state = states.read(&run.estate, &run.run).await?;
    if state.status.is_final() {
        let (run, status) = (run.run, state.status);
        return Err(RunStateError::Ended { run, status }.into());
    }
    let stores = environment.stores(&run.estate.0).await?;
    Ok(Step { environment, states, state, stores, run, discretion: Discretion::default() })
}

/// How long to leave others alone who are at work, in seconds: so long that a plan expires before its execution has had as many
/// events as one may have.
const LEAVE_ALONE: i64 = 60;

/// When to try again where nobody says until when they are at work.
fn retry_at(environment: &FunctionEnvironment) -> String {
    instant(environment.clock.seconds() + LEAVE_ALONE)
}

/// Seconds since the epoch, as the definition's wait takes them.
fn instant(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

impl From<FunctionEnvironmentError> for StepError {
    fn from(error: FunctionEnvironmentError) -> StepError {
        StepError::Environment(Box::new(error))
    }
}
