//! The cases that are explored: a few transactions, what each changes and reads, and which faults may happen.

use crate::state::{
    Faults, INVOCATIONS, ORIGINAL, Object, PLANS, Planned, RECORDS, Record, State, Transaction,
};
use crate::state::{Invocation, NEVER, OBJECTS, TRANSACTIONS};

/// What a transaction does to one record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// One provider call, after which the object exists.
    Create,
    /// One provider call, after which the object has another value.
    Update,
    /// One provider call, after which the object is gone.
    Delete,
    /// Two provider calls: delete, then create.
    Replace,
    /// A change of the record alone, as the builtin provider makes it.
    UpdateRecord,
    /// The record takes over the object of another record.
    MoveFrom(u8),
    /// The record gives up its object to another record.
    MoveTo(u8),
}

/// One provider call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Create,
    Update,
    Delete,
}

impl Action {
    pub(crate) fn calls(self) -> &'static [Call] {
        match self {
            Self::Create => &[Call::Create],
            Self::Update => &[Call::Update],
            Self::Delete => &[Call::Delete],
            Self::Replace => &[Call::Delete, Call::Create],
            Self::UpdateRecord | Self::MoveFrom(_) | Self::MoveTo(_) => &[],
        }
    }

    /// Whether the object that the record holds is gone afterwards, and nothing takes its place.
    pub(crate) fn deletes(self) -> bool {
        self == Self::Delete
    }

    /// Whether the record has to hold an object before.
    pub(crate) fn needs_object(self) -> bool {
        !matches!(self, Self::Create | Self::MoveFrom(_))
    }
}

/// One member of a write set.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The record.
    pub record: u8,
    /// What is done to it.
    pub action: Action,
    /// The records that it refers to afterwards, as a bit mask. Those that are members too are done first.
    pub dependencies: u8,
}

/// One transaction of a case.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The write set, in the order in which it is executed.
    pub members: Vec<Member>,
    /// The records of the read set.
    pub reads: Vec<u8>,
    /// How many invocations there may be of it: twins at once, or one after the other.
    pub invocations: u8,
    /// Planned at any time, from what the records hold then; otherwise from the initial state.
    pub late: bool,
}

impl Plan {
    pub(crate) fn member(&self, record: u8) -> Option<&Member> {
        self.members.iter().find(|member| member.record == record)
    }

    pub(crate) fn deleted(&self) -> u8 {
        self.members
            .iter()
            .filter(|member| member.action.deletes())
            .fold(0, |mask, member| mask | 1 << member.record)
    }
}

/// One case: explored in every interleaving.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is called in reports, tests and on the command line.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Its transactions.
    pub plans: Vec<Plan>,
    /// The records that hold an object in the beginning, as a bit mask.
    pub existing: u8,
    /// Whether the provider finds a create again by its request token.
    pub tokens: bool,
    /// Which faults may happen, and how often.
    pub faults: Faults,
}

impl Case {
    pub(crate) fn initial(&self) -> State {
        let mut records = [Record::default(); RECORDS];
        let mut world = [NEVER; OBJECTS];
        let mut writes = [0; RECORDS];
        let mut revisions = [0; RECORDS];
        for record in (0..RECORDS).filter(|record| self.existing & 1 << record != 0) {
            records[record] = Record {
                write_id: 1,
                revision: 1,
                object: Some(Object { identity: record as u8, value: ORIGINAL, dependencies: 0 }),
                ..Record::default()
            };
            world[record] = ORIGINAL;
            writes[record] = 1;
            revisions[record] = 1;
        }
        let mut state = State {
            records,
            transactions: [Transaction::default(); TRANSACTIONS],
            strays: [0; RECORDS],
            world,
            interfered: 0,
            planned: [Planned::default(); TRANSACTIONS],
            invocations: [Invocation::UNBORN; INVOCATIONS],
            delayed: [None; 2],
            faults: self.faults,
            record_writes: writes,
            revisions,
            transaction_writes: [0; TRANSACTIONS],
            reads_held: 0,
            changes: [0; RECORDS],
            changed: [[0; RECORDS]; PLANS],
        };
        for (index, _) in self.plans.iter().enumerate().filter(|(_, plan)| !plan.late) {
            state.planned[index] = planned_now(&state);
        }
        state
    }
}

/// A plan of this moment.
pub(crate) fn planned_now(state: &State) -> Planned {
    let mut planned = Planned { made: true, changes: state.changes, ..Planned::default() };
    for (record, body) in state.records.iter().enumerate() {
        planned.revision[record] = body.revision;
        // Planning reads the resource: the plan rests on what exists, not on what was recorded.
        planned.object[record] = body
            .object
            .map(|object| Object { value: state.world[object.identity as usize], ..object });
    }
    planned
}
