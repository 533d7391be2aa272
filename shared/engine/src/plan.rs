//! A plan: what was read, and what is to be changed.

use crate::changes::{Changes, ResourceInstanceChange};
use crate::checks::CheckResults;
use crate::moving::MovedInstances;
use crate::reads::Reads;
use crate::state::{InstanceState, State};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ProviderAddress, ResourceInstance, ResourceMode};
use values::schema::Schema;
use values::{Value, address::ProviderConfigAddress};

/// What kind of plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PlanMode {
    /// Make the world as configured.
    #[default]
    Normal,
    /// Delete everything.
    Destroy,
    /// Only bring the records up to the world.
    RefreshOnly,
}

/// A plan in memory.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its kind.
    pub mode: PlanMode,
    /// When it was made, seconds since the epoch: `plantimestamp()`.
    pub timestamp: i64,
    /// Values of root variables as given (before defaults), with whether they are sensitive or
    /// ephemeral kept as marks.
    pub variables: BTreeMap<Arc<str>, Value>,
    /// What is to be changed.
    pub changes: Changes,
    /// What changed in the world since the records were written.
    pub drift: Vec<ResourceInstanceChange>,
    /// The records as they were when planning began.
    pub previous: Arc<State>,
    /// Whether only some resources were planned.
    pub targeted: bool,
    /// Recorded instances that have another address in the configuration.
    pub moves: Arc<MovedInstances>,
    /// The same records under their new addresses: what the changes start from.
    pub prior: Arc<State>,
    /// Objects that instances take over, by the identifiers that their providers know them by.
    pub imports: BTreeMap<ResourceInstance, Arc<str>>,
    /// What all conditions came to, as far as that is known.
    pub checks: CheckResults,
    /// What its changes looked at. Empty for a plan that was read from a file, whose read set has it.
    pub reads: Reads,
    /// Objects as they were read from the world, by address: what the changes start from.
    pub refreshed: BTreeMap<ResourceInstance, RefreshedInstance>,
    /// Schemas of the types that occur, for whoever shows or applies the plan.
    pub schemas: Schemas,
    /// Whether the plan was made without errors and can be applied.
    pub complete: bool,
}

impl Plan {
    /// The record of an instance as the estate has it, under whatever address.
    pub fn recorded(&self, address: &ResourceInstance) -> Option<&Arc<InstanceState>> {
        match self.moves.get(address) {
            Some(origin) => self.previous.instances.get(origin),
            // What was moved away is recorded elsewhere.
            None if !self.prior.instances.contains_key(address) => None,
            None => self.previous.instances.get(address),
        }
    }

    /// Leaves outputs as they are recorded whose values cannot be known before something is applied that this plan
    /// does not do: of a plan that only brings the records up to the world.
    pub fn keep_outputs_that_are_unknown(&mut self) {
        if self.mode == PlanMode::RefreshOnly {
            self.changes.outputs.retain(|_, change| change.after.is_wholly_known());
        }
    }

    /// A plan that was not made.
    pub(crate) fn empty(mode: PlanMode, timestamp: i64, previous: Arc<State>) -> Plan {
        Plan {
            mode,
            timestamp,
            variables: BTreeMap::new(),
            changes: Changes::default(),
            drift: Vec::new(),
            prior: previous.clone(),
            previous,
            targeted: false,
            moves: Arc::default(),
            imports: BTreeMap::new(),
            checks: CheckResults::new(),
            reads: Reads::default(),
            refreshed: BTreeMap::new(),
            schemas: Schemas::default(),
            complete: false,
        }
    }
}

/// What a read of the world gave for one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct RefreshedInstance {
    /// The provider configuration that read it.
    pub provider: ProviderConfigAddress,
    /// Where its objects come from.
    pub seen: Seen,
    /// What a data source was read with. Its result does not tell: attributes that were left out may
    /// be computed. `None` for a managed resource.
    pub configuration: Option<values::Value>,
    /// The current object; `None` where the world has it no more.
    pub current: Option<crate::object::Object>,
    /// The deposed objects.
    pub deposed: BTreeMap<crate::object::DeposedKey, crate::object::Object>,
}

/// Where the objects of a plan come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// A provider read them from the world.
    #[default]
    InTheWorld,
    /// They are as recorded, and nobody looked.
    Recorded,
}

/// Schemas of resource types, by provider, mode and type.
#[derive(Clone, Debug, Default)]
pub struct Schemas(pub BTreeMap<(ProviderAddress, ResourceMode, Arc<str>), Arc<Schema>>);

impl Schemas {
    /// The schema of a resource type.
    pub fn get(
        &self,
        provider: &ProviderAddress,
        mode: ResourceMode,
        ty: &Arc<str>,
    ) -> Option<&Arc<Schema>> {
        self.0.get(&(provider.clone(), mode, ty.clone()))
    }
}
