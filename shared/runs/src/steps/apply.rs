//! Applying: an approved plan in, changes out; what one invocation does not finish another goes on with.

use super::tell::Told;
use super::variables;
use super::{Step, StepError, instant, refuse_stopped, retry_at, step};
use crate::apply::{ApplyOutcome, ApplyRequest, PlanToApply};
use crate::approval;
use crate::artifact;
use crate::error::RunError;
use crate::function_environment::FunctionEnvironment;
use crate::run_reference::{Answer, Invocation};
use crate::run_state::Status;
use crate::source;
use engine::transaction::{TransactionError, is_only_busy};
use engine::verdict::{RejectCode, Verdict};
use engine::{Deadline, Ending};
use language::source::Sources;
use views::verdicts::PlanVerdicts;

/// Applies a run's plan, if somebody approved it or nobody has to.
///
/// # Errors
/// Where it may succeed in a moment: what was done is recorded, and the same call goes on. Everything else is an answer.
pub async fn apply(
    environment: &FunctionEnvironment,
    invocation: Invocation,
    deadline: Deadline,
) -> Result<Answer, StepError> {
    step(environment, invocation, |step| work(step, deadline)).await
}

async fn work(mut step: Step<'_>, deadline: Deadline) -> Result<Answer, StepError> {
    let (environment, estate) = (step.environment, step.run.estate.clone());
    let plan = step.plan()?.clone();
    let deployment = environment.deployment().await?;
    let policy = deployment.approvals(&estate.0);
    let approved_by =
        approval::require(&step.states, policy, &estate, &step.run.run, &plan).await?;
    let bytes = artifact::get(&*step.stores.artifacts, &plan.artifact).await?;
    let bundle = step.bundle().await?;
    let workplace = environment.workplace(&estate.0, &step.stores, &bundle, Vec::new()).await?;
    let key = environment.key().await?;
    // Only what the plan does not carry is taken of these.
    let (source, _) = source::from_fetched(&*bundle.files());
    let (ephemeral, _) = variables::values(&bundle, &source, &environment.variables);
    step.discretion.of_variables(&source.configuration.root.module, &ephemeral);
    step.note(Told::default(), |state| {
        // It may have been stopped since this step began. From this write on nobody stops it any more.
        if state.cancelled_by.is_none() {
            state.status = Status::Applying;
        }
    })
    .await?;
    refuse_stopped(&step.state)?;
    let request = ApplyRequest {
        plan: PlanToApply::Saved { bytes: &bytes, verifier: &key },
        run: step.run.run.clone(),
        principal: step.state.author.principal(),
        approved_by,
        deadline: Some(deadline),
        ephemeral,
        waivers: &[],
        spill: None,
    };
    let outcome = match crate::apply::apply(&workplace, request).await {
        Ok(outcome) => outcome,
        Err(RunError::Transaction(TransactionError::Busy { until, .. })) => {
            return Ok(Answer::Busy { run: step.run, until: instant(until) });
        }
        Err(error) => return Err(error.into()),
    };
    conclude(step, outcome).await
}

async fn conclude(mut step: Step<'_>, mut outcome: ApplyOutcome) -> Result<Answer, StepError> {
    step.discretion.of_plan(&outcome.plan.plan);
    let view = PlanVerdicts { plan: outcome.plan.id.as_str(), verdicts: &outcome.verdicts };
    let rejected = outcome.verdicts.iter().any(Verdict::is_reject);
    let mut told = Told::default();
    told = match rejected {
        true => told.verdicts(view.plan, view.verdicts)?,
        false => told.checked(view.verdicts),
    };
    told = told.standing(&outcome.progress);
    told = told.diagnostics(&outcome.diagnostics, &Sources::new(), &step.discretion)?;
    if let Some(error) = outcome.unended.take() {
        // Repeated, the step goes on where this one stopped, and says nothing of what has failed here.
        step.note(told, |_| {}).await?;
        return Err(error.into());
    }
    let Some(applied) = &outcome.applied else {
        if rejected && is_only_busy(&outcome.verdicts) {
            step.note(told, |_| {}).await?;
            let until = retry_at(step.environment);
            return Ok(Answer::Busy { run: step.run, until });
        }
        if !rejected {
            return step.failed("apply", told).await;
        }
        let code = view.code().unwrap_or(RejectCode::Stale).as_str().to_owned();
        step.note(told, |state| state.code = Some(code.clone())).await?;
        return Ok(Answer::Rejected { run: step.run, code });
    };
    match applied.ending {
        Ending::Continue => {
            step.note(told, |_| {}).await?;
            Ok(Answer::Continue { run: step.run })
        }
        Ending::Done if !outcome.diagnostics.has_errors() => {
            let done = views::progress::completion(applied.summary, false);
            let told = told.applied(&done, applied.outputs.as_ref());
            step.note(told, |_| {}).await?;
            Ok(Answer::Success { run: step.run })
        }
        Ending::Done | Ending::Interrupted => step.failed("apply", told).await,
    }
}
