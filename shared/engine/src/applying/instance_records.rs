//! The records of the instances that an apply touches, as they are at each moment.

use crate::object::{DeposedKey, Object, StoredObject};
use crate::object_codec::encode;
use crate::plan::Plan;
use crate::recorder::{RecordError, Recorder};
use crate::state::InstanceState;
use providers::TypedSchema;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::address::{ProviderConfigAddress, ResourceInstance};

/// What an instance consists of, starting from what the plan knows.
pub(crate) struct InstanceRecords {
    plan: Arc<Plan>,
    touched: Mutex<HashMap<ResourceInstance, InstanceState>>,
}

impl InstanceRecords {
    pub(crate) fn new(plan: Arc<Plan>) -> InstanceRecords {
        InstanceRecords { plan, touched: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResourceInstance, InstanceState>> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The instance's record as it is now.
    pub(crate) fn get(&self, address: &ResourceInstance) -> InstanceState {
        if let Some(state) = self.lock().get(address) {
            return state.clone();
        }
        let recorded = self.plan.previous.instances.get(address);
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

    /// Whether an action has changed the instance.
    pub(crate) fn is_touched(&self, address: &ResourceInstance) -> bool {
        self.lock().contains_key(address)
    }

    /// Changes the record and writes it.
    pub(crate) async fn write(
        &self,
        recorder: &dyn Recorder,
        address: &ResourceInstance,
        change: impl FnOnce(&mut InstanceState),
    ) -> Result<(), RecordError> {
        let mut state = self.get(address);
        change(&mut state);
        // The truth in memory is what the world is, also where writing it fails.
        self.lock().insert(address.clone(), state.clone());
        recorder.write(address, &state).await
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
