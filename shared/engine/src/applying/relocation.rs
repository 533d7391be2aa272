//! Recording planned moves and imports: before anything else, so that every later write finds the
//! record at its address.

use super::instance_records::InstanceRecords;
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

/// Records the moves of a plan. The new addresses of those that could not be recorded, which was
/// reported: nothing may be done with them.
pub(crate) async fn record_moves(
    context: &EvalContext,
    plan: &Plan,
    recorder: &dyn Recorder,
    records: &InstanceRecords,
) -> BTreeSet<ResourceInstance> {
    let parallelism = context.environment.parallelism.max(1);
    let failed: Vec<Vec<ResourceInstance>> = stream::iter(chains(plan))
        .map(|chain| record_chain(context, recorder, records, chain))
        .buffer_unordered(parallelism)
        .collect()
        .await;
    failed.into_iter().flatten().collect()
}

/// Moves in order: where one instance goes to an address that another one leaves, the other one
/// goes first.
fn chains(plan: &Plan) -> Vec<Vec<Move<'_>>> {
    let left: BTreeSet<&ResourceInstance> = plan.moves.values().collect();
    let heads = plan.moves.iter().filter(|(now, _)| !left.contains(now));
    heads
        .map(|(now, origin)| {
            let mut chain = vec![(now, origin)];
            let mut at = origin;
            while let Some((now, origin)) = plan.moves.get_key_value(at) {
                chain.push((now, origin));
                at = origin;
            }
            chain
        })
        .collect()
}

async fn record_chain(
    context: &EvalContext,
    recorder: &dyn Recorder,
    records: &InstanceRecords,
    chain: Vec<Move<'_>>,
) -> Vec<ResourceInstance> {
    for (index, (now, origin)) in chain.iter().enumerate() {
        let moved = match context.stop.is_stopping() {
            true => Ok(false),
            false => record(recorder, records, now, origin).await.map(|()| true),
        };
        if matches!(moved, Ok(true)) {
            continue;
        }
        if let Err(e) = moved {
            let error = Diagnostic::error(e.summary, e.detail);
            context.report([error.for_address(now.to_string())]);
        }
        // The rest of the chain would take addresses that are not free.
        return chain[index..].iter().map(|(now, _)| (*now).clone()).collect();
    }
    Vec::new()
}

async fn record(
    recorder: &dyn Recorder,
    records: &InstanceRecords,
    now: &ResourceInstance,
    origin: &ResourceInstance,
) -> Result<(), RecordError> {
    let state = match now.resource.ty == origin.resource.ty {
        true => records.get(now),
        false => records.as_planned(now)?,
    };
    match state.current.is_none() && state.deposed.is_empty() {
        // The world has lost the object: there is nothing to move.
        true => recorder.write(origin, &InstanceState::default(), Step::Done).await,
        false => {
            recorder.write_moved(origin, now, &state, Step::Between).await?;
            records.begin_with(now, state);
            Ok(())
        }
    }
}

/// Records the objects that instances take over. The instances of which that failed, which was
/// reported.
pub(crate) async fn record_imports(
    context: &EvalContext,
    plan: &Plan,
    recorder: &dyn Recorder,
    records: &InstanceRecords,
) -> BTreeSet<ResourceInstance> {
    let parallelism = context.environment.parallelism.max(1);
    stream::iter(&plan.imports)
        .map(|(address, id)| async move {
            if context.stop.is_stopping() {
                return Some(address.clone());
            }
            match record_import(recorder, records, address).await {
                Ok(()) => {
                    context.environment.hook(|h| h.post_import(address, id));
                    None
                }
                Err(e) => {
                    let error = Diagnostic::error(e.summary, e.detail);
                    context.report([error.for_address(address.to_string())]);
                    Some(address.clone())
                }
            }
        })
        .buffer_unordered(parallelism)
        .filter_map(|failed| async move { failed })
        .collect()
        .await
}

async fn record_import(
    recorder: &dyn Recorder,
    records: &InstanceRecords,
    address: &ResourceInstance,
) -> Result<(), RecordError> {
    let state = records.as_planned(address)?;
    recorder.write(address, &state, Step::Between).await?;
    records.begin_with(address, state);
    Ok(())
}
