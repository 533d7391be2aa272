//! One state of the modelled world: what the store holds, what exists at the provider, and where each invocation stands.

use std::hash::{Hash, Hasher};

/// Records per case.
pub(crate) const RECORDS: usize = 3;
/// Transactions that a case may describe.
pub(crate) const PLANS: usize = 3;
/// Transactions of cases, and one probe per record.
pub(crate) const TRANSACTIONS: usize = PLANS + RECORDS;
/// Invocations per case; the last place is the probe's.
pub(crate) const INVOCATIONS: usize = 5;
/// Provider objects: one that each record may begin with, and one that each transaction may create for each record.
pub(crate) const OBJECTS: usize = RECORDS * (PLANS + 1);

/// A provider object that was never made.
pub(crate) const NEVER: u8 = 0;
/// A provider object that was deleted.
pub(crate) const GONE: u8 = 255;
/// What a provider object holds before any transaction changes it.
pub(crate) const ORIGINAL: u8 = 1;
/// What somebody else, outside of every transaction, wrote into a provider object.
pub(crate) const FOREIGN: u8 = 200;

/// What `plan` writes into a provider object.
pub(crate) fn value_of(plan: u8) -> u8 {
    10 + plan
}

/// The provider object that `plan` makes for `record`.
pub(crate) fn created_object(plan: u8, record: u8) -> u8 {
    (RECORDS as u8) * (plan + 1) + record
}

/// The record that a provider object was made for.
pub(crate) fn home(object: u8) -> u8 {
    object % RECORDS as u8
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Object {
    pub(crate) identity: u8,
    pub(crate) value: u8,
    /// The records that the object's configuration refers to, as a bit mask.
    pub(crate) dependencies: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ClaimState {
    Claimed,
    Applying,
    Done,
    /// Over without the change: the provider refused, or what it depends on failed.
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Claim {
    pub(crate) plan: u8,
    pub(crate) attempt: u8,
    /// Which of the action's provider calls is the next, or under way.
    pub(crate) step: u8,
    pub(crate) state: ClaimState,
}

/// The body under `r/i/<address>`; the default is an absent key. A body is also its own version: two bodies that agree in
/// all fields, `write_id` included, have one ETag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Record {
    pub(crate) write_id: u8,
    /// 0 where nothing exists: absent, shell and tombstone.
    pub(crate) revision: u8,
    pub(crate) object: Option<Object>,
    /// The source of a move, and the revision that it had: that source is void.
    pub(crate) moved_from: Option<(u8, u8)>,
    pub(crate) claim: Option<Claim>,
    pub(crate) doubt: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Absent,
    Claiming,
    Executing,
    Done,
    Waiting,
    Rejected,
    Fenced,
}

/// The body under `t/<plan id>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) write_id: u8,
    pub(crate) phase: Phase,
    pub(crate) attempt: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Body {
    Record(u8, Record),
    Transaction(u8, Transaction),
}

/// What a write is for: decides what its writer does once it has landed, or was refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Purpose {
    Lease,
    Claim,
    Decide,
    Mark,
    Result,
    End,
    /// Takes back one's own claim on a member.
    Strip {
        member: u8,
        then: Option<Phase>,
    },
    Fence,
    Settle,
}

/// One conditional write: lands if and only if the key still holds `expected`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Write {
    /// The transaction that writes.
    pub(crate) plan: u8,
    pub(crate) purpose: Purpose,
    pub(crate) expected: Body,
    pub(crate) body: Body,
}

/// A request of an invocation that has not been answered, by what it does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Position {
    /// Not begun, dead, or ended.
    Nowhere,
    ReadTransaction,
    /// The request of the current step of the script.
    Step,
    /// Met a claim of another transaction: reads that transaction.
    AskRival {
        seen: Record,
    },
    /// The rival is alive and has to yield.
    Wait {
        seen: Record,
        rival: Transaction,
    },
    /// Met one end of a move of a dead transaction: reads the other end.
    AskPartner {
        seen: Record,
    },
    /// Met a change in flight of a dead transaction or attempt: reads the resource.
    SettleByReading {
        seen: Record,
    },
    /// Goes on with a member of an earlier attempt: reads the resource once more.
    ReadAgain {
        seen: Record,
    },
    Write(Write),
    /// The answer was lost, or was a conflict: reads back and compares.
    ReadBack(Write),
    /// The mark is written: checks the lease and calls the provider.
    Call,
    Await,
    /// The result could not be written in its place.
    WriteStray,
    /// Phase waiting or rejected is written: takes back the claims, member by member.
    Strip {
        member: u8,
        then: Option<Phase>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Status {
    Unborn,
    Running,
    Dead,
    Ended(Ending),
}

/// How an invocation answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Ending {
    Done,
    Busy,
    Rejected,
    /// Another attempt, or a fence, has taken the transaction away.
    Superseded,
    /// The lease ended before a call: the next invocation goes on.
    Continue,
    /// A claim of its own was gone.
    Lost,
    /// The probe got its claim.
    Claimed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Invocation {
    pub(crate) plan: u8,
    pub(crate) status: Status,
    pub(crate) attempt: u8,
    /// Whether the lease that it wrote still runs, on its own clock and everybody's.
    pub(crate) lease: bool,
    pub(crate) position: Position,
    /// The current step of its script.
    pub(crate) at: u8,
    /// Its transaction as it last wrote it.
    pub(crate) transaction: Transaction,
    /// Its members as it last wrote them.
    pub(crate) known: [Record; RECORDS],
    /// A claim (transaction and attempt) that was found to have ended.
    pub(crate) ended: Option<(u8, u8)>,
    /// Members that failed, as a bit mask of records.
    pub(crate) failed: u8,
    /// The member whose provider call has not taken effect, with the call.
    pub(crate) in_flight: Option<(u8, u8)>,
}

impl Invocation {
    pub(crate) const UNBORN: Self = Self {
        plan: 0,
        status: Status::Unborn,
        attempt: 0,
        lease: false,
        position: Position::Nowhere,
        at: 0,
        transaction: Transaction { write_id: 0, phase: Phase::Absent, attempt: 0 },
        known: [Record {
            write_id: 0,
            revision: 0,
            object: None,
            moved_from: None,
            claim: None,
            doubt: false,
        }; RECORDS],
        ended: None,
        failed: 0,
        in_flight: None,
    };

    /// Forgets what only a running invocation needs, so that states which differ in it alone are one.
    pub(crate) fn stop(&mut self, status: Status) {
        self.status = status;
        self.position = Position::Nowhere;
        self.at = 0;
        self.transaction = Transaction::default();
        self.known = [Record::default(); RECORDS];
        self.ended = None;
        self.failed = 0;
        if !matches!(status, Status::Dead) {
            self.lease = false;
            self.in_flight = None;
        }
    }
}

impl Hash for Invocation {
    /// Passes over what is always the same where nothing runs: most of a state, and most of the time of a check.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.status.hash(hasher);
        if self.status == Status::Unborn {
            return;
        }
        (self.plan, self.attempt, self.lease, self.in_flight).hash(hasher);
        if self.status == Status::Running {
            (self.position, self.at, self.transaction, self.known, self.ended, self.failed)
                .hash(hasher);
        }
    }
}

/// What a plan rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Planned {
    pub(crate) made: bool,
    /// Made after the beginning, so that states may differ in it.
    pub(crate) late: bool,
    pub(crate) revision: [u8; RECORDS],
    pub(crate) object: [Option<Object>; RECORDS],
    /// How many changes each record had seen when the plan was made.
    pub(crate) changes: [u8; RECORDS],
}

impl Hash for Planned {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        if self.late {
            (self.made, self.revision, self.object, self.changes).hash(hasher);
        }
    }
}

/// How many more faults may happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Faults {
    /// An invocation dies, between any two steps.
    pub crashes: u8,
    /// A write lands and its answer is lost.
    pub lost_answers: u8,
    /// A write is not answered, and lands later, or never.
    pub delayed_writes: u8,
    /// The lease of a running invocation ends: it was suspended, and goes on later.
    pub thaws: u8,
    /// The provider refuses a call.
    pub refusals: u8,
    /// Somebody changes or deletes a provider object by hand.
    pub interferences: u8,
}

/// Everything that exists at one moment.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    pub(crate) records: [Record; RECORDS],
    pub(crate) transactions: [Transaction; TRANSACTIONS],
    /// Transactions with a result under `r/s/<address>/`, as a bit mask per record.
    pub(crate) strays: [u8; RECORDS],
    /// The value of each provider object.
    pub(crate) world: [u8; OBJECTS],
    /// Provider objects that somebody changed by hand, as a bit mask.
    pub(crate) interfered: u16,
    pub(crate) planned: [Planned; TRANSACTIONS],
    pub(crate) invocations: [Invocation; INVOCATIONS],
    pub(crate) delayed: [Option<Write>; 2],
    pub(crate) faults: Faults,
    // Sources of fresh ids.
    pub(crate) record_writes: [u8; RECORDS],
    pub(crate) revisions: [u8; RECORDS],
    pub(crate) transaction_writes: [u8; TRANSACTIONS],
    // Known to the checker alone.
    /// Transactions whose reads held when their last claim landed, as a bit mask.
    pub(crate) reads_held: u8,
    /// Changes that each record has seen.
    pub(crate) changes: [u8; RECORDS],
    /// For each transaction and record: the number of the change that it made, from 1; 0 for none.
    pub(crate) changed: [[u8; RECORDS]; PLANS],
}

impl State {
    pub(crate) fn stored(&self, key: Body) -> Body {
        match key {
            Body::Record(record, _) => Body::Record(record, self.records[record as usize]),
            Body::Transaction(plan, _) => Body::Transaction(plan, self.transactions[plan as usize]),
        }
    }

    /// Whether the lease of `plan`'s attempt still runs.
    pub(crate) fn lease_runs(&self, plan: u8) -> bool {
        let attempt = self.transactions[plan as usize].attempt;
        self.invocations.iter().any(|invocation| {
            invocation.plan == plan && invocation.attempt == attempt && invocation.lease
        })
    }

    /// Whether a provider call of `plan`, of `attempt` or before, may still take effect.
    pub(crate) fn may_take_effect(&self, plan: u8, attempt: u8) -> bool {
        self.invocations.iter().any(|invocation| {
            invocation.plan == plan
                && invocation.attempt <= attempt
                && invocation.in_flight.is_some()
        })
    }

    pub(crate) fn running(&self) -> bool {
        self.invocations.iter().any(|invocation| invocation.status == Status::Running)
    }
}
