//! Recording planned moves and imports: before anything else, so that every later write finds the
//! record at its address.

use super::instance_records::InstanceRecords;
use super::members::Members;
use crate::evaluation::EvalContext;
use crate::plan::Plan;
use crate::recorder::{RecordError, Recorder, Step};
use crate::state::InstanceState;
use futures::stream::{self, StreamExt};
use language::diagnostics::Diagnostic;
use std::collections::BTreeSet;
use values::address::ResourceInstance;

/// One move: the new address and the one of the record.
type Move<'a> = (&'a ResourceInstance, &'a ResourceInstance);

/// What recording moves and imports needs.
pub(super) struct Relocation<'a> {
    pub(super) context: &'a EvalContext,
    pub(super) plan: &'a Plan,
    pub(super) recorder: &'a dyn Recorder,
    pub(super) records: &'a InstanceRecords,
    pub(super) members: &'a Members,
}

impl Relocation<'_> {
    /// Records the moves of a plan. The new addresses of those that could not be recorded, which was
    /// reported: nothing may be done with them.
    pub(super) async fn record_moves(&self) -> BTreeSet<ResourceInstance> {
        let parallelism = self.context.environment.parallelism.max(1);
        let failed: Vec<Vec<ResourceInstance>> = stream::iter(self.chains())
            .map(|chain| self.record_chain(chain))
            .buffer_unordered(parallelism)
            .collect()
            .await;
        failed.into_iter().flatten().collect()
    }

    /// Moves in order: where one instance goes to an address that another one leaves, the other one
    /// goes first.
    fn chains(&self) -> Vec<Vec<Move<'_>>> {
        let moves = &self.plan.moves;
        let left: BTreeSet<&ResourceInstance> = moves.values().collect();
        let heads = moves.iter().filter(|(now, _)| !left.contains(now));
        heads
            .map(|(now, origin)| {
                let mut chain = vec![(now, origin)];
                let mut at = origin;
                while let Some((now, origin)) = moves.get_key_value(at) {
                    chain.push((now, origin));
                    at = origin;
                }
                chain
            })
            .collect()
    }

    async fn record_chain(&self, chain: Vec<Move<'_>>) -> Vec<ResourceInstance> {
        for (index, (now, origin)) in chain.iter().enumerate() {
            if self.members.is_begun(now) {
                // Moving comes first of all that is done to an instance.
                continue;
            }
            let moved = match self.context.stop.is_stopping() {
                true => Ok(false),
                false => self.record_move(now, origin).await.map(|()| true),
            };
            if matches!(moved, Ok(true)) {
                continue;
            }
            if let Err(e) = moved {
                let error = Diagnostic::error(e.summary, e.detail);
                self.context.report([error.for_address(now.to_string())]);
            }
            // The rest of the chain would take addresses that are not free.
            return chain[index..].iter().map(|(now, _)| (*now).clone()).collect();
        }
        Vec::new()
    }

    async fn record_move(
        &self,
        now: &ResourceInstance,
        origin: &ResourceInstance,
    ) -> Result<(), RecordError> {
        let state = match now.resource.ty == origin.resource.ty {
            true => self.records.get(now),
            false => self.records.as_planned(now)?,
        };
        match state.current.is_none() && state.deposed.is_empty() {
            // The world has lost the object: there is nothing to move.
            true => self.recorder.write(origin, &InstanceState::default(), Step::Done).await,
            false => {
                let step = self.members.step_before_parts(now);
                self.recorder.write_moved(origin, now, &state, step).await?;
                self.records.begin_with(now, state);
                Ok(())
            }
        }
    }

    /// Records the objects that instances take over. The instances of which that failed, which was
    /// reported.
    pub(super) async fn record_imports(&self) -> BTreeSet<ResourceInstance> {
        let parallelism = self.context.environment.parallelism.max(1);
        stream::iter(&self.plan.imports)
            .map(|(address, id)| async move {
                if self.members.is_begun(address) {
                    return None;
                }
                if self.context.stop.is_stopping() {
                    return Some(address.clone());
                }
                match self.record_import(address).await {
                    Ok(()) => {
                        self.context.environment.hook(|h| h.post_import(address, id));
                        None
                    }
                    Err(e) => {
                        let error = Diagnostic::error(e.summary, e.detail);
                        self.context.report([error.for_address(address.to_string())]);
                        Some(address.clone())
                    }
                }
            })
            .buffer_unordered(parallelism)
            .filter_map(|failed| async move { failed })
            .collect()
            .await
    }

    async fn record_import(&self, address: &ResourceInstance) -> Result<(), RecordError> {
        let state = self.records.as_planned(address)?;
        let step = self.members.step_before_parts(address);
        self.recorder.write(address, &state, step).await?;
        self.records.begin_with(address, state);
        Ok(())
    }
}
