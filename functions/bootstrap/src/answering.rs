//! What is common to all answers: how long there is, what is logged, and which errors are one.

use engine::Deadline;
use engine::clock::Clock;
use jiff::{SignedDuration, Timestamp};
use lambda_runtime::{Context, Diagnostic};
use runs::run_reference::{Answer, RunReference};
use runs::steps::StepError;
use std::time::Duration;
use tracing::Instrument;

/// What is kept of an invocation's time for its answer to leave.
const RESERVE: SignedDuration = SignedDuration::from_secs(2);

/// Something that the definition repeats: its text is in the log, since execution histories are read by others.
#[derive(Debug)]
pub enum Failure {
    /// A service did not answer, or others wrote at the same time.
    Unavailable,
    /// A fault of ours.
    Panicked,
}

impl From<Failure> for Diagnostic {
    fn from(failure: Failure) -> Diagnostic {
        let (error_type, message) = match failure {
            Failure::Unavailable => ("Unavailable", "a service did not answer; the log has more"),
            Failure::Panicked => ("Panicked", "the function failed; the log has more"),
        };
        Diagnostic { error_type: error_type.into(), error_message: message.into() }
    }
}

/// Until when an invocation must have answered. A short one uses half of its time to begin, and half to finish.
pub fn deadline(context: &Context, clock: &dyn Clock) -> Deadline {
    let now = clock.now();
    let given = i64::try_from(context.deadline).ok();
    let given = given.and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok());
    let end = given.map_or(now, |given| given.saturating_sub(RESERVE).unwrap_or(given));
    let whole = Duration::try_from(end.duration_since(now)).unwrap_or_default();
    Deadline { end, threshold: whole.div_f64(2.0).min(Deadline::THRESHOLD) }
}

/// Does a step of a run, and logs what came of it.
///
/// # Errors
/// Where the step may succeed in a moment.
pub async fn observed(
    context: &Context,
    run: &RunReference,
    step: impl Future<Output = Result<Answer, StepError>>,
) -> Result<Answer, Failure> {
    let span = tracing::info_span!(
        "step",
        run = %run.run,
        estate = %run.estate.0,
        mode = %run.mode,
        request_id = %context.request_id,
        trace_id = context.xray_trace_id.as_deref().unwrap_or_default(),
    );
    async {
        let begun = std::time::Instant::now();
        let answer = step.await;
        let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        match answer {
            Ok(answer) => {
                let (answer_kind, code) = kind(&answer);
                tracing::info!(answer = answer_kind, code, milliseconds, "answered");
                Ok(answer)
            }
            Err(error) => {
                tracing::warn!(code = error.code(), milliseconds, "to be repeated: {error}");
                Err(Failure::Unavailable)
            }
        }
    }
    .instrument(span)
    .await
}

fn kind(answer: &Answer) -> (&'static str, &str) {
    match answer {
        Answer::Success { .. } => ("success", ""),
        Answer::ApprovalRequired { .. } => ("approval_required", ""),
        Answer::NothingToDo { .. } => ("nothing_to_do", ""),
        Answer::Rejected { code, .. } => ("rejected", code),
        Answer::Continue { .. } => ("continue", ""),
        Answer::Busy { until, .. } => ("busy", until),
        Answer::Failed { code, .. } => ("failed", code),
    }
}
