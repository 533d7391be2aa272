//! `plumb show`: the records, or a saved plan.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::pager;
use crate::plan_file;
use crate::session::Session;
use engine::saved_plan::{SavedPlanError, UnverifiedPlan};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use records::Opening;
use runs::{RunError, shown_plan, source};
use views::page::{PageOptions, write_run_page};
use views::product::{COMMAND, shell_word};
use views::run_report::{Fact, NextStep, PlanReport, RunReport, write_summary};
use views::{PlanView, ShownState, plan_text, relevant_attributes, sets, state_json, state_text};

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, show).await
}

async fn show(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(1, "Expected at most one positional argument.")?;
    let json = flags.switch("json", false);
    let reads = flags.switch("reads", false);
    let paged = !flags.switch("no-pager", false);
    let reports = flags.switch("html", false) || flags.switch("summary", false);
    if flags.value("out").is_some() && !reports {
        let detail = "The -out option names the file for what -html and -summary write. Other output is put into a file by the shell: plumb show > FILE.";
        return Err(UsageError::other("Nothing to write to a file", detail).into());
    }
    match flags.positional.first() {
        Some(path) if reports => report(session, flags, path),
        Some(path) => plan(session, path, json, reads, paged),
        None if reports => {
            let detail =
                "The -html and -summary options show a saved plan, and need the file of one.";
            Err(UsageError::other("No plan file", detail).into())
        }
        None if reads => {
            let detail =
                "The -reads option shows what a saved plan rests on, and needs the file of one.";
            Err(UsageError::other("No plan file", detail).into())
        }
        None => state(session, json, paged).await,
    }
}

fn plan(
    session: &Session,
    path: &str,
    json: bool,
    reads: bool,
    paged: bool,
) -> Result<u8, Failure> {
    let plan = saved_plan(path)?;
    let saved = plan.contents_for_showing();
    match json {
        true => session.reporter.write(|out| shown_plan::write_json(saved, reads, out)),
        false if reads => {
            pager::write(&session.environment, paged, |out| sets::write_sets(saved, out));
        }
        false => {
            let (source, _) = source::from_bundle(&saved.bundle);
            let mut view = PlanView::new(&saved.plan);
            view.relevant = Some(relevant_attributes(&source.configuration, &saved.plan));
            let options = session.reporter.text;
            pager::write(&session.environment, paged, |out| {
                plan_text::write_plan(&view, options, out)
            });
        }
    }
    Ok(0)
}

/// A plan in a file, to be shown and no more: nothing has vouched for it.
///
/// # Errors
/// Where the file cannot be read, or holds no plan.
pub(super) fn saved_plan(path: &str) -> Result<UnverifiedPlan, Failure> {
    let bytes = plan_file::read(path)?;
    let plan = UnverifiedPlan::parse(&bytes).map_err(|error| match error {
        SavedPlanError::NotAPlan => Diagnostic::error(
            "Failed to read the given file as a plan file",
            format!("{path} is no saved plan; make one with \"plumb plan -out=FILE\"."),
        ),
        error => RunError::from(error).to_diagnostic(),
    })?;
    Ok(plan)
}

/// A plan as a page, or in a few lines.
fn report(session: &Session, flags: &Flags, path: &str) -> Result<u8, Failure> {
    let plan = saved_plan(path)?;
    let saved = plan.contents_for_showing();
    let (source, _) = source::from_bundle(&saved.bundle);
    let mut view = PlanView::new(&saved.plan);
    view.relevant = Some(relevant_attributes(&source.configuration, &saved.plan));
    let mut told = PlanReport::new(&view);
    (told.id, told.expires) = (Some(saved.id.to_string()), Some(saved.expires));
    let mut out = Vec::new();
    let written = match flags.switch("html", false) {
        false => write_summary(&told, session.reporter.text.colour, &mut out),
        true => {
            let next = NextStep {
                sentence: "Nothing is changed until this plan is applied. What moved since it was made is found then, or by \
                           checking it now."
                    .to_owned(),
                commands: vec![
                    ("Check it".to_owned(), format!("{COMMAND} validate -plan={}", shell_word(path))),
                    ("Apply exactly this".to_owned(), format!("{COMMAND} apply {}", shell_word(path))),
                ],
            };
            let report = RunReport {
                estate: saved.estate.to_string(),
                status: "saved plan".to_owned(),
                facts: vec![Fact::code("Digest of the plan", plan.digest().to_string())],
                next: told.has_changes().then_some(next),
                verdicts: saved.snapshot.clone(),
                plan: Some(told),
                ..RunReport::default()
            };
            write_run_page(&report, PageOptions::default(), &mut out)
        }
    };
    written.map_err(|error| Failure::error("The plan cannot be written", error.to_string()))?;
    super::remote::write_out(session, flags, &out)?;
    Ok(0)
}

async fn state(session: &Session, json: bool, paged: bool) -> Result<u8, Failure> {
    let Some((state, diagnostics)) = read(session).await? else {
        session.reporter.write(|out| match json {
            true => state_json::write_no_state(out),
            false => writeln!(out, "No state."),
        });
        return Ok(0);
    };
    if diagnostics.has_errors() {
        return Err(Failure::Diagnostics(diagnostics, std::sync::Arc::new(Sources::new())));
    }
    let colour = session.reporter.text.colour;
    match json {
        true => session.reporter.write(|out| state_json::write_state(&state, out)),
        false => pager::write(&session.environment, paged, |out| {
            state_text::write_state(&state, colour, out)
        }),
    }
    Ok(0)
}

/// The estate as its records say, decoded; `None` where there are none.
///
/// # Errors
/// Where the records cannot be read.
pub(super) async fn read(session: &Session) -> Result<Option<(ShownState, Diagnostics)>, Failure> {
    let Some((estate, _)) = session.estate(Opening::Existing).await? else { return Ok(None) };
    let reading = estate.read().await.map_err(RunError::from)?;
    if reading.header.is_none() {
        return Ok(None);
    }
    let providers = session.providers(&session.directory.locks()?)?;
    Ok(Some(runs::state::shown_state(&*providers, &reading.state).await))
}
