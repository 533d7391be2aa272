//! What `plan`, `apply` and `destroy` have in common: their flags, and making a plan.

use crate::commands::{generated_configuration, no_configuration, policy};
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::former_store;
use crate::reporter::Voice;
use crate::session::{PARALLELISM, Session};
use crate::variables;
use engine::existing_state::NewEstate;
use engine::plan::PlanMode;
use engine::verdict::{Outcome, RejectCode, Verdict};
use engine::{GeneratedResource, PlanOptions, Target};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use language::source::Sources;
use language::variables::VariableArgument;
use runs::plan::{PlanOutcome, PlanRequest};
use runs::{RunError, Workplace};
use std::sync::Arc;
use values::address::{AddressError, ResourceInstance, ResourceMode};
use views::explanation::GivenVariables;
use views::plan_text::write_plan;
use views::{PlanView, relevant_attributes};

/// How to plan and apply.
pub(super) struct Operation {
    pub(super) options: PlanOptions,
    pub(super) new_estate: NewEstate,
    pub(super) parallelism: usize,
    pub(super) variables: Vec<VariableArgument>,
    /// Whether a person may be asked for values.
    pub(super) input: bool,
    /// Whether the plan is shown.
    pub(super) shown: bool,
    /// Where configuration is written for imported objects that have none.
    pub(super) generate_config_out: Option<String>,
}

impl Operation {
    /// # Errors
    /// Where flags exclude each other.
    pub(super) fn parse(session: &Session, flags: &Flags) -> Result<Operation, Failure> {
        let mode = match (flags.switch("destroy", false), flags.switch("refresh-only", false)) {
            (true, true) => {
                let detail = "The -destroy and -refresh-only options are mutually-exclusive.";
                return Err(UsageError::other("Incompatible plan mode options", detail).into());
            }
            (true, false) => PlanMode::Destroy,
            (false, true) => PlanMode::RefreshOnly,
            (false, false) => PlanMode::Normal,
        };
        let refresh = flags.switch("refresh", true);
        if mode == PlanMode::RefreshOnly && !refresh {
            let detail = "It doesn't make sense to use -refresh-only at the same time as -refresh=false, because there would be nothing to do.";
            return Err(UsageError::other("Incompatible refresh options", detail).into());
        }
        let parallelism = match flags.value("parallelism").map(str::parse) {
            None => PARALLELISM,
            Some(Ok(n)) if n > 0 => n,
            Some(_) => {
                let detail = "The parallelism must be a positive number.";
                return Err(UsageError::other("Invalid parallelism value", detail).into());
            }
        };
        let new_estate = match flags.switch("new-estate", false) {
            true => NewEstate::Declared,
            false => NewEstate::NotDeclared,
        };
        let json = matches!(session.reporter.voice, Voice::Json(_));
        Ok(Operation {
            options: PlanOptions {
                mode,
                refresh,
                replace: replaced(flags)?,
                targets: targets(flags)?,
                ..PlanOptions::default()
            },
            new_estate,
            parallelism,
            variables: variables::arguments(flags),
            input: !json && flags.switch("input", session.environment.input()),
            shown: true,
            generate_config_out: None,
        })
    }
}

/// The instances that `-replace` names.
fn replaced(flags: &Flags) -> Result<Vec<ResourceInstance>, UsageError> {
    let addresses = flags.all(&["replace"]).map(|(_, text)| {
        let invalid = |why: String| {
            UsageError::other(&format!("Invalid force-replace address {text:?}"), why)
        };
        let address: ResourceInstance =
            text.parse().map_err(|e: AddressError| invalid(format!("{}.", e.reason)))?;
        match address.resource.mode {
            ResourceMode::Managed => Ok(address),
            _ => Err(invalid(
                "Only managed resources can be used with the -replace=... option.".into(),
            )),
        }
    });
    addresses.collect()
}

/// What `-target` names.
fn targets(flags: &Flags) -> Result<Vec<Target>, UsageError> {
    let targets = flags.all(&["target"]).map(|(_, text)| {
        text.parse().map_err(|e: AddressError| {
            UsageError::other(&format!("Invalid target {text:?}"), format!("{}.", e.reason))
        })
    });
    targets.collect()
}

/// A plan that was made, with all that is needed to apply it.
pub(super) struct Planned {
    pub(super) workplace: Workplace,
    pub(super) outcome: PlanOutcome,
    pub(super) sources: Arc<Sources>,
    /// The configuration that was planned.
    pub(super) configuration: Arc<Configuration>,
    /// Where root variables have their values from.
    pub(super) given: GivenVariables,
    /// Values of ephemeral variables, which the plan does not carry.
    pub(super) ephemeral: engine::Variables,
    /// Whether configuration was written for imported objects.
    pub(super) generated: bool,
    /// What the estate's policy says of it; nothing where there is none, or nothing to look at.
    pub(super) policy: Vec<Verdict>,
}

impl Planned {
    /// Why nobody may approve it.
    pub(super) fn refused(&self) -> Option<RejectCode> {
        self.policy.iter().find_map(|verdict| verdict.code)
    }
}

/// Makes a plan and shows it.
///
/// # Errors
/// Where the configuration or the records cannot be used. Errors of the plan itself are reported, and the
/// plan is incomplete then.
pub(super) async fn plan(session: &Session, operation: &Operation) -> Result<Planned, Failure> {
    let destroy = operation.options.mode == PlanMode::Destroy;
    if !session.directory.has_configuration() && !destroy {
        return Err(no_configuration(
            "Plan requires configuration to be present. Planning without a configuration would mark everything for destruction, which is normally not what is desired. If you would like to destroy everything, run plan with the -destroy option. Otherwise, create a Terraform configuration file (.tf file) and try again.",
        ));
    }
    if let Some(path) = &operation.generate_config_out {
        generated_configuration::check(path, operation.options.mode)?;
    }
    let (mut source, warnings) = session.configuration()?;
    let arguments = operation.variables.clone();
    let (values, found) = variables::values(session, &source, arguments, operation.input).await?;
    let mut diagnostics = warnings;
    diagnostics.extend(found);
    let module = &source.configuration.root.module;
    let ephemeral = values
        .iter()
        .filter(|(name, _)| module.variables.get(*name).is_some_and(|v| v.ephemeral))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let given = values.iter().map(|(name, value)| (name.clone(), value.source.clone())).collect();
    let workplace = session.workplace(operation.parallelism).await?;
    if operation.new_estate == NewEstate::NotDeclared
        && let Some(objection) = former_store::objection(session, &session.project()?)
        && workplace.estate.read_header().await.map_err(RunError::from)?.is_none()
    {
        return Err(objection.into());
    }
    let mut generated = Vec::new();
    if let Some(path) = &operation.generate_config_out {
        let (options, new_estate) = (operation.options.clone(), operation.new_estate);
        session.reporter.work_begins(None);
        let made =
            runs::generate::generate(&workplace, &source, values.clone(), options, new_estate)
                .await;
        session.reporter.work_ended();
        let (resources, found) = made?;
        if found.has_errors() {
            return Err(Failure::Diagnostics(found, source.configuration.sources.clone()));
        }
        if !resources.is_empty() {
            generated_configuration::write(path, &resources)?;
            diagnostics.push(generated_configuration::warning());
            (source, _) = session.configuration()?;
        }
        generated = resources;
    }
    let configuration = source.configuration.clone();
    let sources = configuration.sources.clone();
    let request = PlanRequest {
        source,
        variables: values,
        options: operation.options.clone(),
        new_estate: operation.new_estate,
        expiry: session.project()?.project.plans.expiry.0,
    };
    session.reporter.work_begins(None);
    let outcome = runs::plan::plan(&workplace, request).await;
    session.reporter.work_ended();
    let mut outcome = outcome?;
    diagnostics.extend(outcome.diagnostics.clone());
    if !outcome.plan().complete && !diagnostics.has_errors() {
        outcome.diagnostics.push(interrupted("Nothing was changed."));
        diagnostics.push(interrupted("Nothing was changed."));
    }
    if operation.shown {
        show(session, &outcome, &configuration, &generated);
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    session.reporter.report(outcome.verdicts.iter().filter_map(warning));
    let generated = !generated.is_empty();
    let policy = match diagnostics.has_errors() {
        true => Vec::new(),
        false => policy::evaluate(session, &session.project()?, &outcome.saved).await,
    };
    policy::tell(session, outcome.saved.id.as_str(), &policy);
    Ok(Planned { workplace, outcome, sources, configuration, given, ephemeral, generated, policy })
}

/// Somebody asked to stop.
pub(super) fn interrupted(what_now: &str) -> Diagnostic {
    Diagnostic::error("Operation interrupted", format!("It was stopped before its end. {what_now}"))
}

fn show(
    session: &Session,
    outcome: &PlanOutcome,
    configuration: &Configuration,
    generated: &[GeneratedResource],
) {
    let mut view = PlanView::new(outcome.plan());
    for resource in generated {
        if let Some(import) = view.imports.get_mut(&resource.address) {
            import.generated_config = Some(resource.text.clone());
        }
    }
    if !view.plan.drift.is_empty() {
        view.relevant = Some(relevant_attributes(configuration, view.plan));
    }
    let errors = outcome.diagnostics.has_errors();
    match &session.reporter.voice {
        Voice::Json(stream) if !errors => stream.plan(&view),
        Voice::Json(_) => {}
        // After errors there is something to see only where something was planned.
        Voice::Human(_) if errors && outcome.plan().changes.resources.is_empty() => {}
        Voice::Human(_) => {
            let options = session.reporter.text;
            session.reporter.write(|out| write_plan(&view, options, out));
        }
    }
}

/// What the snapshot stage warns of, as a diagnostic.
pub(super) fn warning(verdict: &Verdict) -> Option<Diagnostic> {
    (verdict.outcome == Outcome::Warn)
        .then(|| Diagnostic::warning("The records moved while planning", format!("{verdict}.")))
}

/// What rejects a plan, as diagnostics.
pub(super) fn rejections(verdicts: &[Verdict]) -> Diagnostics {
    let rejects = verdicts.iter().filter(|verdict| verdict.is_reject());
    rejects
        .map(|verdict| {
            let summary = format!("The plan is rejected by the stage {}", verdict.stage);
            let place = verdict.address.as_deref().map(|address| {
                format!("{address}{}: ", verdict.path.as_deref().unwrap_or_default())
            });
            let mut detail = format!("{}{}", place.unwrap_or_default(), verdict.message);
            if let (Some(planned), Some(actual)) = (&verdict.planned, &verdict.actual) {
                detail.push_str(&format!(" (planned {planned}, found {actual})"));
            }
            detail.push_str(". Nothing was changed.");
            if let Some(remedy) = &verdict.remedy {
                detail.push_str(&format!("\n\nTo mend it: {remedy}."));
            }
            Diagnostic::error(summary, detail)
        })
        .collect()
}
