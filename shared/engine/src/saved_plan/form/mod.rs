//! The stored form of a plan: plain data, field by field.

mod change;
mod schema;
mod set;
mod state;
mod value;

use super::{Bundle, LockedProvider, PlanOptions, SavedPlan, SavedPlanError};
use crate::checks::{CheckForm, from_forms, to_forms};
use crate::identifiers::PlanId;
use crate::moving::moved_state;
use crate::plan::{Plan, PlanMode};
use crate::reads::Reads;
use crate::record::body::SharedAddresses;
use crate::record::key::EstateName;
use crate::state::Lineage;
use crate::verdict::Verdict;
use bytes::Bytes;
use change::{ChangeForm, OutputChangeForm};
use schema::SchemaForm;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use set::{SetForm, from_set, into_set};
use state::{RefreshedForm, StateForm};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use value::{PathForm, ValueForm};
use values::address::{ProviderAddress, ResourceInstance, ResourceMode};

fn damaged(what: &str) -> SavedPlanError {
    SavedPlanError::Damaged { problem: format!("{what} cannot be read") }
}

fn instance(text: &str) -> Result<ResourceInstance, SavedPlanError> {
    text.parse().map_err(|_| damaged("the address of an instance"))
}

fn provider(text: &str) -> Result<ProviderAddress, SavedPlanError> {
    text.parse().map_err(|_| damaged("the address of a provider"))
}

#[derive(Serialize, Deserialize)]
enum ModeForm {
    Normal,
    Destroy,
    RefreshOnly,
}

#[derive(Serialize, Deserialize)]
enum ResourceModeForm {
    Managed,
    Data,
    Ephemeral,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PlanForm {
    id: PlanId,
    created: i64,
    expires: i64,
    engine: Arc<str>,
    estate: String,
    lineage: Option<Arc<str>>,
    serial: u64,
    files: BTreeMap<Arc<str>, ByteBuf>,
    providers: BTreeMap<String, LockedProvider>,
    write_set: SetForm,
    read_set: SetForm,
    key_sets: Vec<String>,
    ignored: BTreeMap<String, Vec<PathForm>>,
    ephemeral_variables: BTreeSet<Arc<str>>,
    options: PlanOptions,
    snapshot: Vec<u8>,
    mode: ModeForm,
    timestamp: i64,
    variables: BTreeMap<Arc<str>, ValueForm>,
    changes: Vec<ChangeForm>,
    output_changes: BTreeMap<Arc<str>, OutputChangeForm>,
    drift: Vec<ChangeForm>,
    previous: StateForm,
    targeted: bool,
    moves: BTreeMap<String, String>,
    imports: BTreeMap<String, Arc<str>>,
    checks: Vec<u8>,
    refreshed: BTreeMap<String, RefreshedForm>,
    schemas: Vec<(String, ResourceModeForm, Arc<str>, SchemaForm)>,
    complete: bool,
}

impl PlanForm {
    pub(super) fn from_plan(saved: &SavedPlan) -> Result<PlanForm, SavedPlanError> {
        let plan = &saved.plan;
        let ignored = saved.ignored.iter().map(|(address, paths)| {
            let paths = paths.iter().map(PathForm::from_path).collect::<Result<_, _>>()?;
            Ok::<_, SavedPlanError>((address.to_string(), paths))
        });
        // An ephemeral value is named, so that whoever applies knows to ask for it.
        let mut ephemeral_variables = saved.ephemeral_variables.clone();
        let mut variables = BTreeMap::new();
        for (name, value) in &plan.variables {
            match value.deep_marks().is_ephemeral() {
                true => {
                    ephemeral_variables.insert(name.clone());
                }
                false => {
                    let place = || format!("the variable {name}");
                    variables.insert(name.clone(), ValueForm::from_value(value, place)?);
                }
            }
        }
        let outputs = plan.changes.outputs.iter().map(|(name, change)| {
            Ok::<_, SavedPlanError>((name.clone(), OutputChangeForm::from_change(name, change)?))
        });
        let refreshed = plan.refreshed.iter().map(|(address, refreshed)| {
            let form = RefreshedForm::from_refreshed(address, refreshed)?;
            Ok::<_, SavedPlanError>((address.to_string(), form))
        });
        let schemas = plan.schemas.0.iter().map(|((provider, mode, ty), schema)| {
            let mode = match mode {
                ResourceMode::Managed => ResourceModeForm::Managed,
                ResourceMode::Data => ResourceModeForm::Data,
                ResourceMode::Ephemeral => ResourceModeForm::Ephemeral,
            };
            (provider.to_string(), mode, ty.clone(), SchemaForm::from(&**schema))
        });
        let providers = saved.providers.iter().map(|(a, p)| (a.to_string(), p.clone()));
        let files = &saved.bundle.files;
        Ok(PlanForm {
            id: saved.id.clone(),
            created: saved.created,
            expires: saved.expires,
            engine: saved.engine.clone(),
            estate: saved.estate.to_string(),
            lineage: saved.lineage.as_ref().map(|l| l.0.clone()),
            serial: saved.serial,
            files: files.iter().map(|(p, c)| (p.clone(), ByteBuf::from(c.to_vec()))).collect(),
            providers: providers.collect(),
            write_set: from_set(&saved.write_set)?,
            read_set: from_set(&saved.read_set)?,
            key_sets: saved.key_sets.iter().map(ToString::to_string).collect(),
            ignored: ignored.collect::<Result<_, _>>()?,
            ephemeral_variables,
            options: saved.options.clone(),
            snapshot: serde_json::to_vec(&saved.snapshot)
                .map_err(|e| SavedPlanError::Unwritable { problem: e.to_string() })?,
            mode: match plan.mode {
                PlanMode::Normal => ModeForm::Normal,
                PlanMode::Destroy => ModeForm::Destroy,
                PlanMode::RefreshOnly => ModeForm::RefreshOnly,
            },
            timestamp: plan.timestamp,
            variables,
            changes: plan
                .changes
                .resources
                .iter()
                .map(ChangeForm::from_change)
                .collect::<Result<_, _>>()?,
            output_changes: outputs.collect::<Result<_, _>>()?,
            drift: plan.drift.iter().map(ChangeForm::from_change).collect::<Result<_, _>>()?,
            previous: StateForm::from_state(&plan.previous)?,
            targeted: plan.targeted,
            moves: plan.moves.iter().map(|(now, was)| (now.to_string(), was.to_string())).collect(),
            imports: plan.imports.iter().map(|(a, id)| (a.to_string(), id.clone())).collect(),
            checks: serde_json::to_vec(&to_forms(&plan.checks))
                .map_err(|e| SavedPlanError::Unwritable { problem: e.to_string() })?,
            refreshed: refreshed.collect::<Result<_, _>>()?,
            schemas: schemas.collect(),
            complete: plan.complete,
        })
    }

    pub(super) fn into_plan(self) -> Result<SavedPlan, SavedPlanError> {
        let mut shared = SharedAddresses::default();
        let key_sets = self
            .key_sets
            .iter()
            .map(|text| text.parse().map_err(|_| damaged("the address of a resource")));
        let ignored = self.ignored.into_iter().map(|(address, paths)| {
            let paths = paths.into_iter().map(PathForm::into_path).collect::<Result<_, _>>()?;
            Ok::<_, SavedPlanError>((instance(&address)?, paths))
        });
        let providers =
            self.providers.into_iter().map(|(a, p)| Ok::<_, SavedPlanError>((provider(&a)?, p)));
        let variables = self
            .variables
            .into_iter()
            .map(|(name, value)| Ok::<_, SavedPlanError>((name, value.into_value()?)));
        let outputs = self
            .output_changes
            .into_iter()
            .map(|(name, change)| Ok::<_, SavedPlanError>((name, change.into_change()?)));
        let schemas = self.schemas.into_iter().map(|(address, mode, ty, schema)| {
            let mode = match mode {
                ResourceModeForm::Managed => ResourceMode::Managed,
                ResourceModeForm::Data => ResourceMode::Data,
                ResourceModeForm::Ephemeral => ResourceMode::Ephemeral,
            };
            Ok::<_, SavedPlanError>(((provider(&address)?, mode, ty), Arc::new(schema.into())))
        });
        let mut resources = Vec::with_capacity(self.changes.len());
        for change in self.changes {
            resources.push(change.into_change(&mut shared)?);
        }
        let mut drift = Vec::with_capacity(self.drift.len());
        for change in self.drift {
            drift.push(change.into_change(&mut shared)?);
        }
        let mut refreshed = BTreeMap::new();
        for (address, form) in self.refreshed {
            refreshed.insert(instance(&address)?, form.into_refreshed(&mut shared)?);
        }
        let imports = self
            .imports
            .into_iter()
            .map(|(address, id)| Ok::<_, SavedPlanError>((instance(&address)?, id)));
        let imports = imports.collect::<Result<_, _>>()?;
        let checks: Option<Vec<CheckForm>> = serde_json::from_slice(&self.checks).ok();
        let checks = checks.and_then(from_forms).ok_or_else(|| damaged("the result of a check"))?;
        let moves = self
            .moves
            .into_iter()
            .map(|(now, was)| Ok::<_, SavedPlanError>((instance(&now)?, instance(&was)?)));
        let moves = Arc::new(moves.collect::<Result<_, _>>()?);
        let previous = Arc::new(self.previous.into_state(&mut shared)?);
        let plan = Plan {
            mode: match self.mode {
                ModeForm::Normal => PlanMode::Normal,
                ModeForm::Destroy => PlanMode::Destroy,
                ModeForm::RefreshOnly => PlanMode::RefreshOnly,
            },
            timestamp: self.timestamp,
            variables: variables.collect::<Result<_, _>>()?,
            changes: crate::changes::Changes {
                resources,
                outputs: outputs.collect::<Result<_, _>>()?,
            },
            drift,
            prior: moved_state(&previous, &moves),
            previous,
            targeted: self.targeted,
            moves,
            imports,
            checks,
            reads: Reads::default(),
            refreshed,
            schemas: crate::plan::Schemas(schemas.collect::<Result<_, _>>()?),
            complete: self.complete,
        };
        let snapshot: Vec<Verdict> =
            serde_json::from_slice(&self.snapshot).map_err(|_| damaged("a verdict"))?;
        let files = self.files.into_iter().map(|(p, c)| (p, Bytes::from(c.into_vec())));
        Ok(SavedPlan {
            id: self.id,
            created: self.created,
            expires: self.expires,
            engine: self.engine,
            estate: EstateName::new(&self.estate).map_err(|_| damaged("the estate's name"))?,
            lineage: self.lineage.map(Lineage),
            serial: self.serial,
            bundle: Bundle { files: files.collect() },
            providers: providers.collect::<Result<_, _>>()?,
            write_set: into_set(self.write_set)?,
            read_set: into_set(self.read_set)?,
            key_sets: key_sets.collect::<Result<_, _>>()?,
            ignored: ignored.collect::<Result<_, _>>()?,
            ephemeral_variables: self.ephemeral_variables,
            options: self.options,
            snapshot,
            plan,
        })
    }
}
