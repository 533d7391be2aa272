//! `plumb apply`, `plumb destroy`, and what `plumb refresh` does

use super::deadline;
use super::operation::{self, Operation, Planned};
use super::{verdict_exit_code, waivers};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::plan_file;
use crate::prompt;
use crate::reporter::Voice;
use crate::session::Session;
use crate::signals;
use crate::spill::SpillFolder;
use crate::variables;
use engine::identifiers::RunId;
use engine::plan::PlanMode;
use engine::saved_plan::{SavedPlan, UnverifiedPlan};
use engine::stages::Waiver;
use engine::verdict::{RejectCode, Verdict};
use engine::{Deadline, Ending, Variables};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use language::variables::{ValueSource, VariableArgument};
use runs::apply::{ApplyOutcome, ApplyRequest, PlanToApply};
use runs::{RunError, Workplace, source};
use std::path::Path;
use std::sync::Arc;
use views::PlanView;
use views::progress::{write_completion, write_outputs};
use views::stream;
use views::verdicts::PlanVerdicts;

/// Which of the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Apply,
    Destroy,
    /// Only brings the records up to the world: nothing is shown, and nobody is asked.
    Refresh,
}

/// How often a plan is made anew because the records moved, where nobody needs to be asked.
const ATTEMPTS: u32 = 3;

pub(super) async fn run(
    invocation: &Invocation,
    environment: ProcessEnvironment,
    kind: Kind,
) -> u8 {
    match super::begin(invocation, environment) {
        Ok((session, flags)) => {
            let result = apply(&session, &flags, kind).await;
            verdict_exit_code::conclude(&session, &flags, result, &invocation.name())
        }
        Err(code) => code,
    }
}

pub(super) async fn apply(session: &Session, flags: &Flags, kind: Kind) -> Result<u8, Failure> {
    flags.at_most(1, "Expected at most one positional argument.")?;
    let mut operation = Operation::parse(session, flags)?;
    signals::listen(session.stop.clone(), session.reporter.clone(), signals::CHANGES);
    session.reporter.keep_ticking();
    match (kind, flags.positional.first()) {
        (Kind::Apply, Some(path)) => {
            let terms = Terms {
                waivers: waivers::parse(session, flags)?,
                deadline: deadline::parse(flags, &*session.clock)?,
            };
            return saved(session, &operation, path, &terms, flags).await;
        }
        (Kind::Destroy, Some(_)) => {
            let detail = "The \"destroy\" command takes no plan file: run \"plumb apply FILE\" with a plan that was made with -destroy.";
            return Err(UsageError::other("Too many command line arguments", detail).into());
        }
        (Kind::Refresh, Some(_)) => {
            let detail = "The refresh command takes no arguments.";
            return Err(UsageError::other("Too many command line arguments", detail).into());
        }
        (Kind::Destroy, None) => operation.options.mode = destroying(operation.options.mode)?,
        (Kind::Refresh, None) => {
            operation.options.mode = PlanMode::RefreshOnly;
            operation.shown = false;
        }
        (Kind::Apply, None) => {}
    }
    waivers::need_a_plan(flags)?;
    if flags.value(deadline::FLAG).is_some() {
        let detail = "The -deadline option needs a plan file: what is left when the time is up is done by running the same command again, with the same plan. Make one with \"plumb plan -out=FILE\".";
        return Err(UsageError::other("A deadline without a plan file", detail).into());
    }
    let auto_approve = flags.switch("auto-approve", kind == Kind::Refresh);
    if matches!(session.reporter.voice, Voice::Json(_)) && !auto_approve {
        let detail = "A person cannot be asked for approval when -json is set. You can either apply a saved plan file, or enable the -auto-approve option.";
        return Err(Diagnostic::error("Plan file or auto-approve required", detail).into());
    }
    let mut attempt = 1;
    loop {
        let planned = operation::plan(session, &operation).await?;
        if planned.outcome.diagnostics.has_errors() {
            return Ok(1);
        }
        if let Some(code) = planned.refused() {
            return Ok(verdict_exit_code::of(flags, Some(code)));
        }
        let applyable = PlanView::new(planned.outcome.plan()).is_applyable();
        let asked = !auto_approve && applyable;
        if asked && !approved(session, &operation, flags).await? {
            return Ok(1);
        }
        let Planned { workplace, mut outcome, sources, ephemeral, .. } = planned;
        if kind == Kind::Refresh {
            outcome.saved.plan.keep_outputs_that_are_unknown();
        }
        session.reporter.work_begins(Some(outcome.plan()));
        let plan = PlanToApply::InMemory { plan: Box::new(outcome.saved), paused: asked };
        let outcome = execute(session, &workplace, plan, ephemeral, &Terms::default()).await?;
        // Somebody wrote between our plan and our transaction: plan again.
        if is_stale(&outcome) && (asked || attempt < ATTEMPTS) {
            attempt += 1;
            session.reporter.say("\nThe records moved since this was planned. Planning again.\n");
            continue;
        }
        return Ok(conclude(session, &outcome, &sources, kind, flags));
    }
}

/// The mode of `destroy`, which is its own.
fn destroying(given: PlanMode) -> Result<PlanMode, UsageError> {
    let detail = match given {
        PlanMode::Normal => return Ok(PlanMode::Destroy),
        PlanMode::Destroy => {
            "The -destroy option is not valid for \"plumb destroy\", because this command always runs in destroy mode."
        }
        PlanMode::RefreshOnly => {
            "The -refresh-only option is not valid for \"plumb destroy\": it would change nothing. Run \"plumb apply -refresh-only\"."
        }
    };
    Err(UsageError::other("Invalid mode option", detail))
}

/// On what terms a saved plan is applied.
#[derive(Default)]
struct Terms {
    waivers: Vec<Waiver>,
    deadline: Option<Deadline>,
}

/// Applies a plan file.
async fn saved(
    session: &Session,
    operation: &Operation,
    path: &str,
    terms: &Terms,
    flags: &Flags,
) -> Result<u8, Failure> {
    let bytes = plan_file::read(path)?;
    // The file is read once more by the handler, which believes nothing of it.
    let plan = UnverifiedPlan::parse(&bytes).map_err(RunError::from)?;
    let contents = plan.contents_for_showing();
    let ephemeral = ephemeral(session, operation, contents).await?;
    let (source, _) = source::from_bundle(&contents.bundle);
    let workplace = session.workplace(operation.parallelism).await?;
    let key = session.key().await?;
    let plan = PlanToApply::Saved { bytes: &bytes, verifier: &key };
    session.reporter.work_begins(Some(&contents.plan));
    let outcome = execute(session, &workplace, plan, ephemeral, terms).await?;
    let sources = &source.configuration.sources;
    Ok(conclude(session, &outcome, sources, Kind::Apply, flags))
}

/// Values for the variables that a plan does not carry. Others were fixed when it was made.
async fn ephemeral(
    session: &Session,
    operation: &Operation,
    plan: &SavedPlan,
) -> Result<Variables, Failure> {
    if plan.ephemeral_variables.is_empty() && operation.variables.is_empty() {
        return Ok(Variables::new());
    }
    let (source, _) = source::from_bundle(&plan.bundle);
    let (given, _) = variables::given(session, &source, operation.variables.clone())?;
    let sources = &source.configuration.sources;
    for (name, input) in given.iter().filter(|(name, _)| !plan.ephemeral_variables.contains(*name))
    {
        if is_by_hand(&input.source, operation, sources)
            && plan.plan.variables.get(name) != Some(&input.value)
        {
            let detail = format!(
                "The variable {name} cannot be set using the -var and -var-file options when applying a saved plan file, because a saved plan includes the variable values that were set when it was created, and it has another value for this one. To declare an ephemeral variable which is not saved in the plan file, use ephemeral = true."
            );
            let summary = "Can't change variable when applying a saved plan";
            return Err(Diagnostic::error(summary, detail).into());
        }
    }
    if plan.ephemeral_variables.is_empty() {
        return Ok(Variables::new());
    }
    let (mut values, _) =
        variables::values(session, &source, operation.variables.clone(), operation.input).await?;
    values.retain(|name, _| plan.ephemeral_variables.contains(name));
    match plan.ephemeral_variables.iter().find(|name| !values.contains_key(*name)) {
        None => Ok(values),
        Some(missing) => {
            let detail = format!(
                "The ephemeral input variable \"{missing}\" was set during the plan phase, and so must also be set during the apply phase."
            );
            Err(Diagnostic::error("No value for required variable", detail).into())
        }
    }
}

/// Whether a value was given by a flag of this command.
fn is_by_hand(from: &ValueSource, operation: &Operation, sources: &Sources) -> bool {
    match from {
        ValueSource::CommandLine => true,
        ValueSource::File(place) => {
            let name = sources.name(place.file);
            operation.variables.iter().any(|argument| match argument {
                VariableArgument::File(file) => file.as_path() == Path::new(&*name),
                VariableArgument::Assignment(_) => false,
            })
        }
        _ => false,
    }
}

async fn execute(
    session: &Session,
    workplace: &Workplace,
    plan: PlanToApply<'_>,
    ephemeral: Variables,
    terms: &Terms,
) -> Result<ApplyOutcome, Failure> {
    let request = ApplyRequest {
        plan,
        run: RunId::new(&*session.random),
        principal: session.principal(),
        approved_by: None,
        deadline: terms.deadline,
        ephemeral,
        waivers: &terms.waivers,
        spill: Some(Arc::new(SpillFolder(session.directory.path.clone()))),
    };
    let outcome = runs::apply::apply(workplace, request).await;
    session.reporter.work_ended();
    Ok(outcome?)
}

fn is_stale(outcome: &ApplyOutcome) -> bool {
    let mut rejects = outcome.verdicts.iter().filter(|v| v.is_reject()).peekable();
    rejects.peek().is_some() && rejects.all(|v| v.code == Some(RejectCode::Stale))
}

/// Says what an apply came to; the exit code.
fn conclude(
    session: &Session,
    outcome: &ApplyOutcome,
    sources: &Sources,
    kind: Kind,
    flags: &Flags,
) -> u8 {
    let reporter = &session.reporter;
    let mut diagnostics: Diagnostics = outcome.diagnostics.clone();
    let view = PlanVerdicts { plan: outcome.plan.id.as_str(), verdicts: &outcome.verdicts };
    let rejected = outcome.verdicts.iter().any(Verdict::is_reject);
    if rejected {
        if let Voice::Json(stream) = &reporter.voice {
            stream.verdicts(&view);
        }
        diagnostics.extend(operation::rejections(&outcome.verdicts));
    }
    diagnostics.extend(outcome.unended.as_ref().map(RunError::to_diagnostic));
    if outcome.is_to_be_continued() && outcome.unended.is_none() {
        reporter.diagnostics(&diagnostics, sources);
        reporter.say("\nunfinished: run the same command again\n");
        return deadline::TO_BE_CONTINUED;
    }
    let halted = outcome.applied.as_ref().is_some_and(|a| a.ending == Ending::Interrupted);
    if halted && !diagnostics.has_errors() {
        diagnostics.push(operation::interrupted(
            "What was done is recorded, and what is left never began: run \"plumb plan\" to see it.",
        ));
    }
    let applied = outcome.applied.as_ref().filter(|_| !diagnostics.has_errors());
    let Some(applied) = applied else {
        reporter.diagnostics(&diagnostics, sources);
        return verdict_exit_code::of(flags, view.code());
    };
    reporter.diagnostics(&diagnostics, sources);
    // The saved plan of a destruction is applied as any other.
    let destroying = kind == Kind::Destroy;
    let outputs = applied.outputs.clone().unwrap_or_default();
    match &reporter.voice {
        Voice::Json(stream) => {
            let operation = match destroying {
                true => stream::Operation::Destroy,
                false => stream::Operation::Apply,
            };
            if kind != Kind::Refresh {
                stream.change_summary(applied.summary, operation);
            }
            stream.outputs(&outputs);
        }
        Voice::Human(_) if kind == Kind::Refresh => {
            reporter.write(|out| write_outputs(&outputs, reporter.text.colour, out));
        }
        Voice::Human(_) => reporter.write(|out| {
            write_completion(applied.summary, destroying, &outputs, reporter.text.colour, out)
        }),
    }
    0
}

/// Asks whether to go on.
async fn approved(
    session: &Session,
    operation: &Operation,
    flags: &Flags,
) -> Result<bool, Failure> {
    let (title, description, cancelled) = match operation.options.mode {
        PlanMode::Destroy => (
            "\nDo you really want to destroy all resources?",
            "Plumbline will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to confirm.",
            "Destroy cancelled.\n",
        ),
        PlanMode::RefreshOnly => (
            "\nWould you like to update the records to reflect these detected changes?",
            "Plumbline will write these changes to the records without modifying any real infrastructure.\nThere is no undo. Only 'yes' will be accepted to confirm.",
            "Apply cancelled.\n",
        ),
        PlanMode::Normal => (
            "\nDo you want to perform these actions?",
            "Plumbline will perform the actions described above.\nOnly 'yes' will be accepted to approve.",
            "Apply cancelled.\n",
        ),
    };
    if !flags.switch("input", session.environment.input()) {
        let detail = "The plan has changes, and -input=false forbids to ask for approval. Nothing was changed. Apply a saved plan file, or enable the -auto-approve option.";
        return Err(Diagnostic::error("Approval required", detail).into());
    }
    let answer = prompt::ask(&session.stop, title.to_owned(), description.to_owned()).await;
    let answer = answer.map_err(|error| {
        let detail = format!("No answer came: {error}. Nothing was changed.");
        Diagnostic::error("Error asking for approval", detail)
    })?;
    if answer != "yes" {
        session.reporter.say(cancelled);
        return Ok(false);
    }
    Ok(true)
}
