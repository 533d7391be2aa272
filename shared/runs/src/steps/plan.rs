//! Planning: a bundle in, a saved plan out.

use super::tell::Told;
use super::variables;
use super::{Step, StepError, step};
use crate::artifact;
use crate::deployment::Deployment;
use crate::error::RunError;
use crate::function_environment::FunctionEnvironment;
use crate::plan::PlanRequest;
use crate::policy::PolicyGate;
use crate::run_reference::{Answer, Invocation, Mode, PlanReference};
use crate::run_state::{ChangeCounts, Status};
use crate::source;
use engine::PlanOptions;
use engine::existing_state::NewEstate;
use engine::plan::PlanMode;
use engine::record::key::encode;
use views::PlanView;
use views::verdicts::PlanVerdicts;

/// Plans what a run's bundle says, and stores the plan.
///
/// # Errors
/// Where it may succeed in a moment. Everything else is an answer.
pub async fn plan(
    environment: &FunctionEnvironment,
    invocation: Invocation,
) -> Result<Answer, StepError> {
    step(environment, invocation, work).await
}

async fn work(mut step: Step<'_>) -> Result<Answer, StepError> {
    let (environment, estate) = (step.environment, step.run.estate.0.clone());
    let bundle = step.bundle().await?;
    let (source, mut diagnostics) = source::from_fetched(&*bundle.files());
    let sources = source.configuration.sources.clone();
    let (values, found) = variables::values(&bundle, &source, &environment.variables);
    diagnostics.extend(found);
    step.discretion.of_variables(&source.configuration.root.module, &values);
    if diagnostics.has_errors() {
        let told = Told::default().diagnostics(&diagnostics, &sources, &step.discretion)?;
        return step.failed("configuration", told).await;
    }
    let workplace = environment.workplace(&estate, &step.stores, &bundle, Vec::new()).await?;
    let mode = match step.run.mode {
        Mode::Drift => PlanMode::RefreshOnly,
        Mode::Plan | Mode::Deploy | Mode::Apply => PlanMode::Normal,
    };
    let request = PlanRequest {
        source,
        variables: values,
        options: PlanOptions { mode, ..PlanOptions::default() },
        new_estate: NewEstate::NotDeclared,
        expiry: workplace.terms.plan_expiry,
    };
    let outcome = crate::plan::plan(&workplace, request).await?;
    diagnostics.extend(outcome.diagnostics.clone());
    step.discretion.of_plan(outcome.plan());
    let view = PlanView::new(outcome.plan());
    let told =
        Told::default().plan(&view)?.diagnostics(&diagnostics, &sources, &step.discretion)?;
    let (changes, applyable) = (counts(&view), view.is_applyable());
    let asked = applyable && step.run.mode != Mode::Drift && !diagnostics.has_errors();
    let deployment = match asked {
        true => Some(environment.deployment().await?),
        false => None,
    };
    let mut verdicts = outcome.verdicts.clone();
    if let Some(table) = deployment.as_ref().and_then(|deployment| deployment.policy(&estate)) {
        let gate = PolicyGate {
            table: table.clone(),
            directory: environment.scratch.clone(),
            environment: environment.inherited.clone(),
        };
        verdicts.extend(gate.evaluate(&outcome.saved).await);
    }
    let told = match verdicts.is_empty() {
        true => told,
        false => told.verdicts(outcome.saved.id.as_str(), &verdicts)?,
    };
    if diagnostics.has_errors() {
        return step.failed("plan", told).await;
    }
    if let Some(code) = (PlanVerdicts { plan: "", verdicts: &verdicts }).code() {
        // A plan that nobody may approve is not kept.
        let code = code.as_str().to_owned();
        step.note(told, |state| {
            state.status = Status::Planned;
            state.changes = Some(changes);
            state.has_changes = true;
            state.code = Some(code.clone());
        })
        .await?;
        return Ok(Answer::Rejected { run: step.run, code });
    }
    let goes_on = applyable && step.run.mode == Mode::Deploy;
    if !goes_on {
        step.note(told, |state| {
            state.status = Status::Planned;
            state.changes = Some(changes);
            state.has_changes = applyable;
        })
        .await?;
        return Ok(Answer::NothingToDo { run: step.run });
    }
    let told = told.saved(&outcome.saved);
    let encoded = outcome.saved.encode(&environment.key().await?).await.map_err(RunError::from)?;
    let id = outcome.saved.id.clone();
    let key = format!("{}/plans/{}", encode(estate.as_str()), encode(id.as_str()));
    let artifact = artifact::put(&*step.stores.artifacts, &key, encoded.bytes).await?;
    let plan = PlanReference { id, plan_digest: encoded.digest.to_string(), artifact };
    step.run.plan = Some(plan.clone());
    step.note(told, |state| {
        state.status = Status::Planned;
        state.changes = Some(changes);
        state.has_changes = true;
        state.plan = Some(plan.clone());
    })
    .await?;
    let required = |deployment: &Deployment| deployment.approvals(&estate).required;
    Ok(match deployment.as_ref().is_none_or(required) {
        true => Answer::ApprovalRequired { run: step.run },
        false => Answer::Success { run: step.run },
    })
}

fn counts(view: &PlanView<'_>) -> ChangeCounts {
    let summary = view.plan.changes.summary();
    let count = |n: usize| n as u64;
    ChangeCounts {
        add: count(summary.add),
        change: count(summary.change),
        destroy: count(summary.destroy),
        // An import changes nothing, and is none of the changes.
        import: count(view.imports.len()),
    }
}
