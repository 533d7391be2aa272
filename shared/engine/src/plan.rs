//! A plan: what was read, and what is to be changed.

use crate::changes::{Changes, ResourceInstanceChange};
use crate::state::State;
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
    /// Objects as they were read from the world, by address: what the changes start from.
    pub refreshed: BTreeMap<ResourceInstance, RefreshedInstance>,
    /// Schemas of the types that occur, for whoever shows or applies the plan.
    pub schemas: Schemas,
    /// Whether the plan was made without errors and can be applied.
    pub complete: bool,
}

impl Plan {
    /// A plan that was not made.
    pub(crate) fn empty(mode: PlanMode, timestamp: i64, previous: Arc<State>) -> Plan {
        Plan {
            mode,
            timestamp,
            variables: BTreeMap::new(),
            changes: Changes::default(),
            drift: Vec::new(),
            previous,
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
    /// What a data source was read with. Its result does not tell: attributes that were left out may
    /// be computed. `None` for a managed resource.
    pub configuration: Option<values::Value>,
    /// The current object; `None` where the world has it no more.
    pub current: Option<crate::object::Object>,
    /// The deposed objects.
    pub deposed: BTreeMap<crate::object::DeposedKey, crate::object::Object>,
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
