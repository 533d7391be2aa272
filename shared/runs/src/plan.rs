//! Planning: a bundle in, a saved plan out.

use crate::contract::{first_contact, reminders};
use crate::error::RunError;
use crate::source::{RootFolder, Source};
use crate::workplace::Workplace;
use engine::changes::{Action, ResourceInstanceChange};
use engine::estate::EstateReading;
use engine::existing_state::{NewEstate, check_existing_state};
use engine::identifiers::PlanId;
use engine::plan::Plan;
use engine::record::body::{Claim, ClaimState, Phase, ProvisionersStanding};
use engine::saved_plan::{self, ENGINE_VERSION, SavedPlan};
use engine::stages::check_snapshot;
use engine::transaction::{Fate, Others};
use engine::verdict::Verdict;
use engine::{PlanOptions, Variables, ignored_paths};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Path;
use values::address::ResourceInstance;

/// What to plan.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The configuration.
    pub source: Source,
    /// Values of root variables.
    pub variables: Variables,
    /// How.
    pub options: PlanOptions,
    /// Whether a person said that nothing exists.
    pub new_estate: NewEstate,
    /// For how long the plan may be applied, in seconds.
    pub expiry: i64,
}

/// A plan, with all that was noticed on the way.
#[derive(Clone, Debug)]
pub struct PlanOutcome {
    /// The plan with all that it rests on, to be applied at once or to be encoded. Incomplete after
    /// errors.
    pub saved: SavedPlan,
    /// What the configuration and the providers say.
    pub diagnostics: Diagnostics,
    /// What the snapshot stage says.
    pub verdicts: Vec<Verdict>,
}

impl PlanOutcome {
    /// The plan itself.
    pub fn plan(&self) -> &Plan {
        &self.saved.plan
    }
}

/// Makes a plan.
///
/// # Errors
/// Where the records cannot be read, or state may exist elsewhere.
pub async fn plan(workplace: &Workplace, request: PlanRequest) -> Result<PlanOutcome, RunError> {
    let PlanRequest { source, variables, options, new_estate, expiry } = request;
    let (reading, noticed) = first_reading(workplace, &source, new_estate).await?;
    let configuration = &source.configuration;
    let recorded_options = saved_plan::PlanOptions {
        targets: options.targets.iter().map(ToString::to_string).collect(),
        replace: options.replace.iter().map(ToString::to_string).collect(),
        skip_refresh: !options.refresh,
    };
    let (mut plan, mut diagnostics) =
        workplace.context().plan(configuration, variables, reading.state.clone(), options).await;
    diagnostics.extend(noticed);
    let verdicts = check_snapshot(&workplace.estate, &reading).await;
    let module = &configuration.root.module;
    let ephemeral_variables = module
        .variables
        .values()
        .filter(|variable| variable.ephemeral && plan.variables.contains_key(&variable.name))
        .map(|variable| variable.name.clone())
        .collect();
    for name in &ephemeral_variables {
        plan.variables.remove(name);
    }
    diagnostics.extend(reading.strays.iter().map(|stray| {
        Diagnostic::warning(
            "Result kept beside its record",
            format!(
                "A result of run {} for {} could not be recorded in its place, since another run had changed the record: it is kept in {}. An object may exist that this plan does not show. Plans that change {} are refused when they are applied.",
                stray.written_by.run, stray.address, stray.key, stray.address
            ),
        )
    }));
    diagnostics.extend(cut_off(workplace, &reading).await?);
    let write_set = saved_plan::write_set(&plan, &reading);
    let read_set = saved_plan::read_set(&plan, &reading, &write_set);
    let key_sets = std::mem::take(&mut plan.reads.key_sets);
    let created = workplace.now();
    let saved = SavedPlan {
        id: PlanId::new(&*workplace.environment.random),
        created,
        expires: created + expiry,
        engine: ENGINE_VERSION.into(),
        estate: workplace.estate.name().clone(),
        lineage: reading.header.as_ref().map(|header| header.lineage.clone()),
        serial: reading.header.as_ref().map_or(0, |header| header.serial),
        bundle: source.bundle,
        providers: workplace.locked.clone(),
        write_set,
        read_set,
        key_sets,
        ignored: ignored(&plan, configuration),
        ephemeral_variables,
        options: recorded_options,
        snapshot: verdicts.clone(),
        plan,
    };
    Ok(PlanOutcome { saved, diagnostics, verdicts })
}

/// Warns of calls that a dead transaction had in flight: this plan may not show what they came to.
async fn cut_off(
    workplace: &Workplace,
    reading: &EstateReading,
) -> Result<Vec<Diagnostic>, RunError> {
    let in_flight =
        |claim: &Claim| matches!(claim.state, ClaimState::Applying | ClaimState::Unfinished);
    let claims = reading.records.iter().filter_map(|(address, facts)| {
        let claim = facts.claim.as_ref().filter(|claim| in_flight(claim))?;
        Some((address, claim))
    });
    let claims: Vec<_> = claims.collect();
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let others = Others::of(&workplace.estate, reading, &workplace.terms).await?;
    let dead = claims.into_iter().filter_map(|(address, claim)| {
        let Fate::Dead(body) = others.fate_of(claim) else { return None };
        let remedy = match body.phase != Phase::Fenced && body.can_go_on(workplace.now()) {
            true => format!("Apply its plan {} again, which goes on with it.", body.plan),
            false => "The next apply of this estate finds out, also one without changes.".to_owned(),
        };
        let (run, principal) = (&body.run, &body.principal);
        Some(match claim.provisioners {
            Some(ProvisionersStanding::Begun) => Diagnostic::warning(
                "Provisioners were cut off",
                format!(
                    "The run {run} of {principal} died while the provisioners of {address} ran, so that it is recorded as tainted."
                ),
            ),
            _ => Diagnostic::warning(
                "A change was cut off",
                format!(
                    "The run {run} of {principal} died while it changed {address}, and what came of that is not known yet: an object may exist that this plan does not show. {remedy}"
                ),
            ),
        })
    });
    Ok(dead.collect())
}

/// What the configuration wants ignored of the instances that change.
fn ignored(plan: &Plan, configuration: &Configuration) -> BTreeMap<ResourceInstance, Vec<Path>> {
    let of = |change: &ResourceInstanceChange| {
        let block = configuration.resource(&change.address.config())?;
        let (provider, resource) = (&change.provider.provider, &change.address.resource);
        let schema = plan.schemas.get(provider, resource.mode, &resource.ty)?;
        let ignore = &block.lifecycle.ignore_changes;
        let paths = ignored_paths(ignore, &schema.block, &change.before);
        (!paths.is_empty()).then(|| (change.address.clone(), paths))
    };
    let current = plan.changes.resources.iter().filter(|change| change.deposed.is_none());
    current.filter(|change| change.action != Action::NoOp).filter_map(of).collect()
}

/// What planning starts from. The first contact with an estate gives it its lineage.
pub(crate) async fn first_reading(
    workplace: &Workplace,
    source: &Source,
    new_estate: NewEstate,
) -> Result<(EstateReading, Vec<Diagnostic>), RunError> {
    let mut noticed = reminders(workplace.contract.as_ref());
    let mut reading = workplace.estate.read().await?;
    let files = RootFolder(&*workplace.environment.files);
    let workspace = &workplace.environment.workspace;
    let recorded = reading.header.is_some();
    check_existing_state(recorded, &source.backend, &files, workspace, new_estate)?;
    if reading.header.is_none() {
        let (header, found) = first_contact(&workplace.estate, workplace.contract.as_ref()).await?;
        noticed = found;
        if let Some(header) = &header {
            let mut state = (*reading.state).clone();
            (state.lineage, state.serial) = (Some(header.lineage.clone()), header.serial);
            reading.state = Arc::new(state);
        }
        reading.header = header;
    }
    Ok((reading, noticed))
}
