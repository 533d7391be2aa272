//! Carrying edits out, once their records are claimed.

use super::dependencies::Renames;
use super::{Edit, Edits};
use crate::object::{ObjectStatus, StoredObject};
use crate::recorder::{RecordError, Recorder, Step};
use crate::state::InstanceState;
use crate::transaction::Executing;
use futures::stream::{self, StreamExt};
use values::address::ResourceInstance;

/// How many records are written at once.
const PARALLELISM: usize = 16;

impl Edits {
    /// Writes every record; what could not be written is answered, and everything else is.
    pub async fn carry_out(&self, executing: &Executing) -> Vec<RecordError> {
        let recorder = executing.recorder();
        let state = &executing.reading().state;
        let renames = Renames::of(self, state);
        let absent = InstanceState::default();
        let written: Vec<Result<(), RecordError>> = stream::iter(&self.by_instance)
            .map(|(address, edit)| {
                let recorded = state.instances.get(address).map_or(&absent, |instance| &**instance);
                let recorded = renames.apply(recorded).unwrap_or_else(|| recorded.clone());
                let recorder = &*recorder;
                async move { carry_out(recorder, address, edit, recorded).await }
            })
            .buffer_unordered(PARALLELISM)
            .collect()
            .await;
        let mut errors: Vec<RecordError> = written.into_iter().filter_map(Result::err).collect();
        let dependents = state.instances.iter().filter_map(|(address, instance)| {
            let renamed = renames.apply(instance)?;
            (!self.by_instance.contains_key(address)).then_some((address, renamed))
        });
        let relabelled: Vec<Result<(), RecordError>> = stream::iter(dependents)
            .map(|(address, renamed)| {
                let recorder = &*recorder;
                async move { recorder.refresh(address, &renamed).await }
            })
            .buffer_unordered(PARALLELISM)
            .collect()
            .await;
        errors.extend(relabelled.into_iter().filter_map(Result::err));
        errors
    }
}

async fn carry_out(
    recorder: &dyn Recorder,
    address: &ResourceInstance,
    edit: &Edit,
    mut state: InstanceState,
) -> Result<(), RecordError> {
    let mark = |object: &mut StoredObject, status| object.status = status;
    match edit {
        Edit::Move(to) => {
            return recorder.write_moved(address, to, &state, Step::Done).await;
        }
        Edit::Forget => state = InstanceState::default(),
        Edit::Taint => state.current.iter_mut().for_each(|o| mark(o, ObjectStatus::Tainted)),
        Edit::Untaint => state.current.iter_mut().for_each(|o| mark(o, ObjectStatus::Ready)),
        Edit::ReplaceProvider { from, to } => {
            for object in state.current.iter_mut().chain(state.deposed.values_mut()) {
                if object.provider.provider == *from {
                    object.provider.provider = to.clone();
                }
            }
        }
        Edit::Import(object) => state.current = Some((**object).clone()),
    }
    recorder.write(address, &state, Step::Done).await
}
