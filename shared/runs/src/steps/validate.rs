//! Validating: a saved plan in, verdicts out.

use super::tell::Told;
use super::variables;
use super::{Step, StepError, retry_at, step};
use crate::artifact;
use crate::error::RunError;
use crate::function_environment::FunctionEnvironment;
use crate::run_reference::{Answer, Invocation, Mode};
use crate::run_state::Status;
use crate::source;
use engine::saved_plan::UnverifiedPlan;
use engine::transaction::is_only_busy;
use engine::verdict::RejectCode;
use language::source::Sources;
use views::verdicts::PlanVerdicts;

/// Runs every stage on a run's plan. Nothing is changed.
///
/// # Errors
/// Where it may succeed in a moment. Everything else is an answer.
pub async fn validate(
    environment: &FunctionEnvironment,
    invocation: Invocation,
) -> Result<Answer, StepError> {
    step(environment, invocation, work).await
}

async fn work(mut step: Step<'_>) -> Result<Answer, StepError> {
    let (environment, estate) = (step.environment, step.run.estate.0.clone());
    let plan = step.plan()?.clone();
    let bytes = artifact::get(&*step.stores.artifacts, &plan.artifact).await?;
    let bundle = step.bundle().await?;
    let workplace = environment.workplace(&estate, &step.stores, &bundle, Vec::new()).await?;
    let key = environment.key().await?;
    let (source, _) = source::from_fetched(&*bundle.files());
    let (values, _) = variables::values(&bundle, &source, &environment.variables);
    step.discretion.of_variables(&source.configuration.root.module, &values);
    let outcome = crate::validate::validate(&workplace, &bytes, &key, &[]).await?;
    let told = match step.run.mode {
        // Another run made the plan, and this one's report has to show it.
        Mode::Apply => {
            let plan = UnverifiedPlan::parse(&bytes).map_err(RunError::from)?;
            let saved = plan.contents_for_showing();
            step.discretion.of_plan(&saved.plan);
            Told::default().earlier(saved)
        }
        Mode::Plan | Mode::Deploy | Mode::Drift => Told::default(),
    };
    let told = told.verdicts(plan.id.as_str(), &outcome.verdicts)?.diagnostics(
        &outcome.diagnostics,
        &Sources::new(),
        &step.discretion,
    )?;
    if outcome.passes {
        step.note(told, |state| state.status = Status::Validated).await?;
        return Ok(Answer::Success { run: step.run });
    }
    if is_only_busy(&outcome.verdicts) {
        step.note(told, |_| {}).await?;
        let until = retry_at(environment);
        return Ok(Answer::Busy { run: step.run, until });
    }
    let view = PlanVerdicts { plan: plan.id.as_str(), verdicts: &outcome.verdicts };
    let code = view.code().unwrap_or(RejectCode::Stale).as_str().to_owned();
    step.note(told, |state| state.code = Some(code.clone())).await?;
    Ok(Answer::Rejected { run: step.run, code })
}
