//! The records of the instances that an apply touches, as they are at each moment.

use crate::hashing::HashMap;
use crate::object::{DeposedKey, Object, StoredObject};
use crate::object_codec::encode;
use crate::plan::Plan;
use crate::recorder::{RecordError, Recorder, Step};
use crate::state::InstanceState;
use crate::transaction::Progress;
use providers::TypedSchema;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::address::{ProviderConfigAddress, ResourceInstance};

/// What an instance consists of, starting from what the plan knows.
pub(crate) struct InstanceRecords {
    plan: Arc<Plan>,
    /// What was recorded before the first action, where that is not what the plan found.
    begun: Mutex<HashMap<ResourceInstance, InstanceState>>,
    touched: Mutex<HashMap<ResourceInstance, InstanceState>>,
}

impl InstanceRecords {
    /// Of instances at which earlier invocations were at work, what they left counts.
    pub(crate) fn new(plan: Arc<Plan>, resumed: Option<&Progress>) -> InstanceRecords {
        let touched = resumed.into_iter().flat_map(|progress| &progress.members);
        let touched = touched.filter(|(_, member)| member.is_begun());
        let touched = touched.map(|(address, member)| (address.clone(), (*member.state).clone()));
        InstanceRecords { plan, begun: Mutex::default(), touched: Mutex::new(touched.collect()) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResourceInstance, InstanceState>> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The instance's record as it is now.
    pub(crate) fn get(&self, address: &ResourceInstance) -> InstanceState {
        if let Some(state) = self.lock().get(address) {
            return state.clone();
        }
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = begun.get(address) {
            return state.clone();
        }
        drop(begun);
        let recorded = self.plan.prior.instances.get(address);
        let mut state = recorded.map(|s| (**s).clone()).unwrap_or_default();
        // What the world has no more needs no deletion.
        if let Some(refreshed) = self.plan.refreshed.get(address) {
            if refreshed.current.is_none() {
                state.current = None;
            }
            state.deposed.retain(|key, _| refreshed.deposed.contains_key(key));
        }
        state
    }

    /// The instance as the plan found it, in place of what is recorded: an object of another type
    /// that planning has converted.
    pub(crate) fn as_planned(
        &self,
        address: &ResourceInstance,
    ) -> Result<InstanceState, RecordError> {
        let mut state = InstanceState::default();
        let Some(found) = self.plan.refreshed.get(address) else { return Ok(state) };
        let (ty, provider) = (&address.resource.ty, &found.provider.provider);
        let Some(schema) = self.plan.schemas.get(provider, address.resource.mode, ty) else {
            return Ok(state);
        };
        let schema = TypedSchema::from((**schema).clone());
        if let Some(object) = &found.current {
            state.current = Some(stored(&found.provider, &schema, object)?);
        }
        for (key, object) in &found.deposed {
            state.deposed.insert(key.clone(), stored(&found.provider, &schema, object)?);
        }
        Ok(state)
    }

    /// Puts in place what the records of an instance say now.
    pub(crate) fn begin_with(&self, address: &ResourceInstance, state: InstanceState) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone(), state);
    }

    /// Notes that the current object was put aside under a key, which is recorded already.
    pub(crate) fn put_aside(&self, address: &ResourceInstance, key: &DeposedKey) {
        let mut state = self.get(address);
        if let Some(object) = state.current.take() {
            state.deposed.insert(key.clone(), object);
        }
        self.lock().insert(address.clone(), state);
    }

    /// Whether an action has changed the instance.
    pub(crate) fn is_touched(&self, address: &ResourceInstance) -> bool {
        self.lock().contains_key(address)
    }

    /// Changes the record and writes it.
    pub(crate) async fn write(
        &self,
        recorder: &dyn Recorder,
        address: &ResourceInstance,
        step: Step,
        change: impl FnOnce(&mut InstanceState),
    ) -> Result<(), RecordError> {
        let mut state = self.get(address);
        change(&mut state);
        // The truth in memory is what the world is, also where writing it fails.
        self.lock().insert(address.clone(), state.clone());
        recorder.write(address, &state, step).await
    }
}

/// Encodes an object, or says why it cannot be kept whole.
pub(crate) fn stored(
    provider: &ProviderConfigAddress,
    schema: &TypedSchema,
    object: &Object,
) -> Result<StoredObject, RecordError> {
    encode(provider, schema, object).map_err(|e| RecordError {
        summary: "Object cannot be recorded".into(),
        detail: format!("The object that the provider returned cannot be encoded: {e}."),
    })
}

/// Sets or removes an object of an instance.
pub(crate) fn put(
    state: &mut InstanceState,
    deposed: Option<&DeposedKey>,
    object: Option<StoredObject>,
) {
    match (deposed, object) {
        (None, object) => state.current = object,
        (Some(key), Some(object)) => {
            state.deposed.insert(key.clone(), object);
        }
        (Some(key), None) => {
            state.deposed.remove(key);
        }
    }
}
