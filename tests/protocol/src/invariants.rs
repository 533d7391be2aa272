//! What must hold, apart from what single steps check of themselves.

use crate::model::{Model, refers_to};
use crate::rules::Invariant;
use crate::state::{GONE, NEVER, OBJECTS, PLANS, RECORDS, State, home};

/// No two records hold one object, except that a move's source is void while its target says so.
pub(crate) fn one_record_per_object(state: &State) -> Result<(), Invariant> {
    for (key, record) in state.records.iter().enumerate() {
        let Some(object) = record.object else { continue };
        for (other_key, other) in state.records.iter().enumerate().skip(key + 1) {
            let same = other.object.is_some_and(|other| other.identity == object.identity);
            let void = other.moved_from == Some((key as u8, record.revision))
                || record.moved_from == Some((other_key as u8, other.revision));
            if same && !void {
                return Err(Invariant::TwoRecords);
            }
        }
    }
    Ok(())
}

/// The transactions that have changed something can be put into an order in which each read what it did read.
pub(crate) fn serializable(model: &Model, state: &State) -> Result<(), Invariant> {
    let mut before = [[false; PLANS]; PLANS];
    let effective = |plan: usize| state.changed[plan].iter().any(|&change| change != 0);
    for reader in (0..PLANS).filter(|&plan| effective(plan)) {
        for writer in (0..PLANS).filter(|&plan| plan != reader && effective(plan)) {
            for &read in &model.plans[reader].reads {
                match state.changed[writer][read as usize] {
                    0 => {}
                    change if change > state.planned[reader].changes[read as usize] => {
                        before[reader][writer] = true
                    }
                    _ => before[writer][reader] = true,
                }
            }
            for record in 0..RECORDS {
                let (own, other) = (state.changed[reader][record], state.changed[writer][record]);
                if own != 0 && other != 0 {
                    before[reader.min(writer)][reader.max(writer)] |=
                        (own < other) == (reader < writer);
                    before[reader.max(writer)][reader.min(writer)] |=
                        (own < other) != (reader < writer);
                }
            }
        }
    }
    for middle in 0..PLANS {
        for from in 0..PLANS {
            for to in 0..PLANS {
                before[from][to] |= before[from][middle] && before[middle][to];
            }
        }
    }
    if (0..PLANS).any(|plan| before[plan][plan]) { Err(Invariant::Serializable) } else { Ok(()) }
}

/// Once nothing moves, and a later transaction has met every record: nothing is lost, and nothing dangles.
pub(crate) fn settled(model: &Model, state: &State) -> Result<(), Invariant> {
    for identity in 0..OBJECTS {
        let value = state.world[identity];
        let interfered = state.interfered & 1 << identity != 0;
        let holder = state.records.iter().position(|record| {
            record.object.is_some_and(|object| object.identity as usize == identity)
        });
        let exists = value != NEVER && value != GONE;
        let noted = |record: usize| state.records[record].doubt || state.strays[record] != 0;
        match holder {
            Some(record) => {
                let recorded = state.records[record].object.map(|object| object.value);
                if recorded != Some(value) && !interfered && !noted(record) {
                    return Err(Invariant::ResultLost);
                }
            }
            None if exists && !noted(home(identity as u8) as usize) => {
                return Err(Invariant::ResultLost);
            }
            None => {}
        }
    }
    for deleted in 0..RECORDS {
        let by_transaction = (0..PLANS).any(|plan| {
            state.changed[plan][deleted] != 0
                && model.plans[plan]
                    .member(deleted as u8)
                    .is_some_and(|member| member.action.deletes())
        });
        if by_transaction
            && state.records[deleted].object.is_none()
            && state.records.iter().any(|record| refers_to(record, 1 << deleted))
        {
            return Err(Invariant::Dangling);
        }
    }
    Ok(())
}
