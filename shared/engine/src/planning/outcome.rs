//! What the vertices of a planning walk found, put together.

use crate::changes::{Action, ResourceInstanceChange};
use crate::object::DeposedKey;
use crate::plan::RefreshedInstance;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use values::address::{
    ConfigResource, ModuleInstance, ProviderAddress, ResourceInstance, ResourceMode,
};
use values::schema::Schema;

type ChangeKey = (ResourceInstance, Option<DeposedKey>);

#[derive(Default)]
pub(crate) struct Outcome(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    changes: BTreeMap<ChangeKey, Arc<ResourceInstanceChange>>,
    drift: BTreeMap<ResourceInstance, ResourceInstanceChange>,
    refreshed: BTreeMap<ResourceInstance, RefreshedInstance>,
    imports: BTreeMap<ResourceInstance, Arc<str>>,
    schemas: BTreeMap<(ProviderAddress, ResourceMode, Arc<str>), Arc<Schema>>,
}

/// All of it, in the order of addresses.
pub(crate) struct Found {
    pub(crate) changes: Vec<ResourceInstanceChange>,
    pub(crate) drift: Vec<ResourceInstanceChange>,
    pub(crate) refreshed: BTreeMap<ResourceInstance, RefreshedInstance>,
    pub(crate) imports: BTreeMap<ResourceInstance, Arc<str>>,
    pub(crate) schemas: BTreeMap<(ProviderAddress, ResourceMode, Arc<str>), Arc<Schema>>,
}

impl Outcome {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn change(&self, change: ResourceInstanceChange) {
        let key = (change.address.clone(), change.deposed.clone());
        self.inner().changes.insert(key, Arc::new(change));
    }
    /// The planned change of a current object.
    pub(crate) fn planned(
        &self,
        address: &ResourceInstance,
    ) -> Option<Arc<ResourceInstanceChange>> {
        self.inner().changes.get(&(address.clone(), None)).cloned()
    }
    pub(crate) fn drifted(&self, change: ResourceInstanceChange) {
        self.inner().drift.insert(change.address.clone(), change);
    }
    pub(crate) fn refreshed(&self, address: ResourceInstance, instance: RefreshedInstance) {
        self.inner().refreshed.insert(address, instance);
    }
    pub(crate) fn imported(&self, address: ResourceInstance, id: Arc<str>) {
        self.inner().imports.insert(address, id);
    }
    pub(crate) fn schema(
        &self,
        provider: &ProviderAddress,
        mode: ResourceMode,
        ty: &Arc<str>,
        schema: &Schema,
    ) {
        let mut inner = self.inner();
        let key = (provider.clone(), mode, ty.clone());
        inner.schemas.entry(key).or_insert_with(|| Arc::new(schema.clone()));
    }
    pub(crate) fn take(&self) -> Found {
        let inner = std::mem::take(&mut *self.inner());
        Found {
            changes: inner.changes.into_values().map(Arc::unwrap_or_clone).collect(),
            drift: inner.drift.into_values().collect(),
            refreshed: inner.refreshed,
            imports: inner.imports,
            schemas: inner.schemas,
        }
    }
}

impl Outcome {
    /// Whether any instance of these resources is about to change that an instance in `module` may mean: what is in
    /// another instance of its own module it cannot refer to.
    pub(crate) fn any_change_of(
        &self,
        resources: &BTreeSet<ConfigResource>,
        module: &ModuleInstance,
    ) -> bool {
        self.inner().changes.values().any(|change| {
            let of = &change.address.module;
            change.action != Action::NoOp
                && resources.contains(&change.address.config())
                && (of == module || of.path() != module.path())
        })
    }
}
