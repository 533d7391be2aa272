//! Records that are kept in memory alone: for what must leave no trace in any store.

use crate::recorder::{OutputsWritten, RecordError, Recorder, RecordsNow, Step};
use crate::state::{InstanceState, OutputState, State};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::Value;
use values::address::ResourceInstance;

/// Records in memory. Nobody else writes them.
#[derive(Debug, Default)]
pub struct RememberedRecords(Mutex<State>);

impl RememberedRecords {
    /// Records that begin with a state.
    pub fn new(state: State) -> RememberedRecords {
        RememberedRecords(Mutex::new(state))
    }

    /// What they say now.
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// Replaces what they say.
    pub fn set_state(&self, state: State) {
        *self.lock() = state;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, address: &ResourceInstance, state: &InstanceState) {
        let mut all = self.lock();
        match state.current.is_none() && state.deposed.is_empty() {
            true => all.instances.remove(address),
            false => all.instances.insert(address.clone(), Arc::new(state.clone())),
        };
    }
}

#[async_trait]
impl Recorder for RememberedRecords {
    async fn write_moved(
        &self,
        from: &ResourceInstance,
        address: &ResourceInstance,
        state: &InstanceState,
        _: Step,
    ) -> Result<(), RecordError> {
        self.put(from, &InstanceState::default());
        self.put(address, state);
        Ok(())
    }

    async fn write(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
        _: Step,
    ) -> Result<(), RecordError> {
        self.put(address, state);
        Ok(())
    }

    async fn refresh(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
    ) -> Result<(), RecordError> {
        self.put(address, state);
        Ok(())
    }

    async fn records_now(&self) -> Result<RecordsNow, RecordError> {
        Ok(RecordsNow { state: Arc::new(self.state()), alone: true })
    }

    async fn write_outputs(
        &self,
        _: &BTreeMap<Arc<str>, OutputState>,
        outputs: &BTreeMap<Arc<str>, Value>,
    ) -> Result<OutputsWritten, RecordError> {
        let recorded = |value: &Value| OutputState { value: value.clone(), version: None };
        self.lock().outputs =
            outputs.iter().map(|(name, value)| (name.clone(), recorded(value))).collect();
        Ok(OutputsWritten::Written)
    }
}
