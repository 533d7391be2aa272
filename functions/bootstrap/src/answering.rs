//! What is common to all answers: how long there is, what is logged, and which errors are one.

use crate::metrics::StepMetrics;
use engine::Deadline;
use engine::clock::Clock;
use jiff::{SignedDuration, Timestamp};
use lambda_runtime::{Context, Diagnostic};
use runs::run_reference::{Answer, RunReference};
use runs::steps::StepError;
use std::io::Write;
use std::time::Duration;
use tracing::Instrument;

/// What is kept of an invocation's time for its answer to leave.
const RESERVE: SignedDuration = SignedDuration::from_secs(2);

/// Something that the definition repeats: its text is in the log, since execution histories are read by others.
#[derive(Debug)]
pub enum Failure {
    /// A service did not answer, or others wrote at the same time.
    Unavailable,
    /// Somebody stopped the run: the definition knows that by its name, and repeats nothing.
    Cancelled,
    /// A fault of ours.
    Panicked,
}

impl From<Failure> for Diagnostic {
    fn from(failure: Failure) -> Diagnostic {
        let (error_type, message) = match failure {
            Failure::Unavailable => ("Unavailable", "a service did not answer; the log has more"),
            Failure::Cancelled => ("Cancelled", "the run was stopped; the log has more"),
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
        let came_to = match &answer {
            Ok(answer) => kind(answer).0,
            Err(StepError::Cancelled { .. }) => "cancelled",
            Err(_) => "unavailable",
        };
        measure(context, run, came_to, milliseconds);
        match answer {
            Ok(answer) => {
                let (answer_kind, code) = kind(&answer);
                tracing::info!(answer = answer_kind, code, milliseconds, "answered");
                Ok(answer)
            }
            Err(error @ StepError::Cancelled { .. }) => {
                tracing::info!(code = error.code(), milliseconds, "not begun: {error}");
                Err(Failure::Cancelled)
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

/// Writes the metrics of a step to the log.
fn measure(context: &Context, run: &RunReference, answer: &str, milliseconds: u64) {
    let metrics = StepMetrics {
        function: &context.env_config.function_name,
        estate: run.estate.0.as_str(),
        answer,
        milliseconds,
        at: Timestamp::now().as_millisecond(),
    };
    let line = format!("{}\n", metrics.line());
    // Numbers that nobody gets are no reason to fail.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
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

#[cfg(test)]
mod tests {
    use super::{Failure, deadline};
    use engine::clock::Clock;
    use jiff::Timestamp;
    use lambda_runtime::{Context, Diagnostic};
    use std::time::Duration;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(43_200).unwrap()
        }
        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    fn of(seconds: u64) -> (i64, Duration) {
        let mut context = Context::default();
        context.deadline = (43_200 + seconds) * 1_000;
        let deadline = deadline(&context, &Noon);
        (deadline.end.as_second() - 43_200, deadline.threshold)
    }

    #[test]
    fn an_invocation_keeps_time_for_its_answer() {
        assert_eq!(of(900), (898, Duration::from_secs(45)));
        // A short one begins in its first half.
        assert_eq!(of(42), (40, Duration::from_secs(20)));
        // One whose time is up begins nothing.
        assert_eq!(of(1), (-1, Duration::ZERO));
    }

    #[test]
    fn errors_name_themselves_and_say_no_more() {
        for (failure, name) in [
            (Failure::Unavailable, "Unavailable"),
            (Failure::Cancelled, "Cancelled"),
            (Failure::Panicked, "Panicked"),
        ] {
            let diagnostic = Diagnostic::from(failure);
            assert_eq!(diagnostic.error_type, name);
            assert!(diagnostic.error_message.ends_with("the log has more"));
        }
    }
}
