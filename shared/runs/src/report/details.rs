//! A run's report: its state, its approval and what its steps said, as one model.

use crate::approval::{Approval, Decision};
use crate::run_reference::Mode;
use crate::run_state::{Author, RunSource, RunState, Status};
use engine::verdict::{RejectCode, Stage, Verdict};
use jiff::Timestamp;
use views::product::{COMMAND, shell_word};
use views::run_report::{
    Fact, NextStep, PathStep, Progress, RunReport, StepReport, Tone, summary_line,
};

/// What is told of a run. `api` is the address of the deployment's API, where it has one.
pub fn run_report(
    state: &RunState,
    approval: Option<&Approval>,
    parts: Vec<StepReport>,
    api: Option<&str>,
) -> RunReport {
    let mut report = RunReport {
        estate: state.estate.0.to_string(),
        run: Some(state.run.to_string()),
        status: state.status.to_string(),
        tone: tone(state.status),
        facts: facts(state, approval),
        ..RunReport::default()
    };
    parts.into_iter().for_each(|part| report.tell(part));
    report.path = path(state, approval, &report);
    report.next = next(state, approval, &report.path, api);
    report
}

fn tone(status: Status) -> Tone {
    match status {
        Status::WaitingForApproval => Tone::Waiting,
        Status::Rejected | Status::TimedOut | Status::Failed => Tone::Bad,
        Status::Applied | Status::NothingToDo => Tone::Good,
        _ => Tone::Neutral,
    }
}

fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(
        |_| seconds.to_string(),
        |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

fn facts(state: &RunState, approval: Option<&Approval>) -> Vec<Fact> {
    let mut facts = vec![Fact::new("For", purpose(state.mode))];
    facts.push(match &state.author {
        Author::Login(login) => Fact::code("Changed by", login),
        Author::Principal(principal) => Fact::code("Asked for by", principal.as_str()),
        Author::Schedule => Fact::new("Asked for by", "a schedule"),
    });
    facts.push(Fact::new("Asked for", time(state.requested)));
    match &state.source {
        RunSource::Commit(commit) => {
            facts.push(Fact::code("Repository", &commit.repository));
            facts.push(Fact::code("Branch", &commit.branch));
            facts.push(Fact::code("Commit", &commit.sha));
            if let Some(number) = commit.pull_request {
                facts.push(Fact::new("Pull request", format!("#{number}")));
            }
        }
        RunSource::Bundle(bundle) => facts.push(Fact::code("Bundle", &bundle.digest)),
    }
    if let Some(approval) = approval {
        let name = match approval.decision {
            Decision::Approved => "Approved by",
            Decision::Declined => "Declined by",
        };
        facts.push(Fact::code(name, approval.principal.as_str()));
        facts.push(Fact::new("Decided", time(approval.decided)));
    }
    if let Some(by) = &state.cancelled_by {
        facts.push(Fact::code("Stopped by", by.as_str()));
    }
    facts.push(Fact::code("Run", state.run.as_str()));
    if let Some(plan) = &state.plan {
        facts.push(Fact::code("Digest of the plan", &plan.plan_digest));
    }
    if let Some(code) = &state.code {
        facts.push(Fact::code("Code", code));
    }
    facts
}

fn purpose(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "a plan to look at",
        Mode::Deploy => "a plan, and changes once it is approved",
        Mode::Apply => "changes that an earlier run has planned",
        Mode::Drift => "finding drift",
    }
}

/// What a person can do about a run.
fn next(
    state: &RunState,
    approval: Option<&Approval>,
    path: &[PathStep],
    api: Option<&str>,
) -> Option<NextStep> {
    let (run, estate) = (shell_word(state.run.as_str()), shell_word(state.estate.0.as_str()));
    let remote = api.map_or_else(|| "URL".to_owned(), |api| shell_word(api.trim_end_matches('/')));
    let step = |sentence: &str, commands: Vec<(&str, String)>| {
        let commands = commands.into_iter().map(|(what, command)| (what.to_owned(), command));
        Some(NextStep { sentence: sentence.to_owned(), commands: commands.collect() })
    };
    let again = |sentence: &str| {
        let commit = shell_word(&state.commit()?.sha);
        let submit = format!("{COMMAND} -estate={estate} submit -remote={remote} -apply {commit}");
        step(sentence, vec![("Plan this commit again", submit)])
    };
    // Who applies does so at the end of the way.
    let applies = matches!(state.mode, Mode::Deploy | Mode::Apply);
    let stopped = path.last().is_some_and(|last| last.progress == Progress::Stopped);
    match state.status {
        Status::WaitingForApproval => {
            let digest = shell_word(&state.plan.as_ref()?.plan_digest);
            let command = |verb: &str| {
                format!("{COMMAND} -estate={estate} {verb} -remote={remote} -digest={digest} {run}")
            };
            // Whoever decided may have been kept from waking the run.
            let repeated = |done: &str, verb: &str| {
                let sentence = format!(
                    "The plan is {done}, and the run hears of it in a moment. Should it go on waiting, it can be said again."
                );
                step(&sentence, vec![("Say so again", command(verb))])
            };
            match approval.map(|approval| approval.decision) {
                Some(Decision::Approved) => repeated("approved", "approve"),
                Some(Decision::Declined) => repeated("declined", "reject"),
                None => step(
                    "Somebody has to agree to this plan. A decision names its digest, so that what you looked at \
                     is what is applied, and nothing else.",
                    vec![("Agree to it", command("approve")), ("Say no", command("reject"))],
                ),
            }
        }
        Status::Rejected if state.code.as_deref() == Some(RejectCode::Policy.as_str()) => step(
            "A policy does not let this plan through, and nothing was changed. Change the configuration, or mend \
             the policy, and push again.",
            Vec::new(),
        ),
        Status::Rejected => again("The plan no longer fits, and nothing was changed. Plan again:"),
        Status::TimedOut => again("Nobody decided in time, and nothing was changed. Plan again:"),
        Status::Failed if applies && stopped => again(
            "Some of the changes may have been made; those are recorded. Plan again, which shows what is left:",
        ),
        _ => None,
    }
}

/// The run's way: what is done, where it is, what is to come.
fn path(state: &RunState, approval: Option<&Approval>, report: &RunReport) -> Vec<PathStep> {
    use Status::{Applied, Applying, Approved, Validated};
    let status = state.status;
    let passed = |statuses: &[Status]| statuses.contains(&status);
    let agreed = approval.is_some_and(|approval| approval.decision == Decision::Approved);
    let applied = status == Applied;
    // Whether a plan is ours is looked at by the stages before an apply alone.
    let checked = report.verdicts.iter().any(|verdict| verdict.stage == Stage::Authenticity);
    let passes = checked && !report.verdicts.iter().any(Verdict::is_reject);
    let validated = passed(&[Validated, Applying, Applied]) || report.applied.is_some() || passes;
    let approved = agreed || validated || status == Approved;
    let planned = state.changes.is_some() || state.plan.is_some();
    let fetched = planned || state.bundle.is_some();
    let by = match approval {
        Some(approval) if agreed => approval.principal.to_string(),
        _ => String::new(),
    };
    let found = report.plan.as_ref().map(summary_line).unwrap_or_default();
    let by_author = state.author.principal().to_string();
    let asked = ("Asked for", true, by_author);
    let steps = match state.mode {
        Mode::Plan => vec![asked, ("Fetched", fetched, String::new()), ("Planned", planned, found)],
        Mode::Drift => {
            vec![asked, ("Fetched", fetched, String::new()), ("Compared", planned, found)]
        }
        Mode::Deploy => vec![
            asked,
            ("Fetched", fetched, String::new()),
            ("Planned", planned, found),
            ("Approved", approved, by),
            ("Checked", validated, String::new()),
            ("Applied", applied, String::new()),
        ],
        Mode::Apply => vec![
            asked,
            ("Approved", approved, by),
            ("Checked", validated, String::new()),
            ("Applied", applied, String::new()),
        ],
    };
    let mut open = true;
    let mut place = |(name, done, note): (&str, bool, String)| {
        let progress = match (done, open) {
            (true, _) => Progress::Done,
            (false, false) if status.is_final() => Progress::Skipped,
            (false, false) => Progress::Ahead,
            (false, true) => {
                open = false;
                match (status.is_final(), status.is_success()) {
                    (true, true) => Progress::Skipped,
                    (true, false) => Progress::Stopped,
                    (false, _) => Progress::Now,
                }
            }
        };
        let note = match progress {
            Progress::Stopped | Progress::Now => status.to_string(),
            _ => note,
        };
        PathStep { name: name.to_owned(), progress, note }
    };
    steps.into_iter().map(&mut place).collect()
}
