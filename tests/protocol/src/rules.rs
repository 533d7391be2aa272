//! The rules of the protocol, each of which can be taken away: a check that cannot fail is no check.

/// One rule taken away.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mutation {
    /// The transaction is decided as soon as its claims are written.
    DropVerify,
    /// Everything is verified first, and claimed afterwards.
    VerifyBeforeClaim,
    /// Bodies carry no id of their own: the same content is the same version, and one's own write cannot be told from a twin's.
    ForgetWriteId,
    /// Invocations neither raise the attempt nor look at a lease.
    NoLease,
    /// A transaction under way is taken over, and resumed, although its lease runs.
    TakeOverLiveLease,
    /// A fence counts as the end of the dead transaction's claims.
    TakeoverWithoutStripping,
    /// A result is written without the claim.
    ClearClaimWithResult,
    /// Nobody looks for new dependents of what is deleted.
    NoDependentsCheck,
    /// A change in flight is settled although its call may still take effect.
    SettleWithinMargin,
    /// A new attempt counts the claims of an earlier one as its own, without writing them again.
    KeepOlderClaims,
    /// A record whose claim turned out to have ended is taken as it was read before that was known.
    TrustBodyReadBeforeEnd,
    /// A dead transaction's claim on a move's source is stripped without a look at the target.
    StripSourceAlone,
    /// Who gives up takes the claims of its transaction back first, whichever attempt wrote them, and says so then.
    StripBeforePhase,
    /// A result that cannot be written in its place is dropped.
    DropRefusedResult,
    /// A create in flight that nobody can identify counts as not made.
    ForgetDoubt,
    /// The lease is not looked at before a provider call.
    CallWithoutLease,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::DropVerify,
        Self::VerifyBeforeClaim,
        Self::ForgetWriteId,
        Self::NoLease,
        Self::TakeOverLiveLease,
        Self::TakeoverWithoutStripping,
        Self::ClearClaimWithResult,
        Self::NoDependentsCheck,
        Self::SettleWithinMargin,
        Self::KeepOlderClaims,
        Self::TrustBodyReadBeforeEnd,
        Self::StripSourceAlone,
        Self::StripBeforePhase,
        Self::DropRefusedResult,
        Self::ForgetDoubt,
        Self::CallWithoutLease,
    ];
}

/// What must hold in every state, on every step, or once nothing moves any more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Invariant {
    /// No two transactions change one record from the same state.
    SameState,
    /// No change rests on a read that moved before its claims were complete.
    ReadMoved,
    /// The transactions that changed something have an order that explains what each of them read; of two in write skew
    /// at most one has changed anything.
    Serializable,
    /// Nothing that exists refers to what a transaction deleted.
    Dangling,
    /// No transaction makes a provider call, or a change of a record, twice.
    Repeated,
    /// What took effect is recorded, stray, or in doubt.
    ResultLost,
    /// No two records hold one object, except a move's target and its void source.
    TwoRecords,
    /// A decided transaction finds its claims wherever it left them, until it ends or is fenced.
    ClaimsHeld,
    /// An ended transaction changes no record any more.
    ChangedAfterEnd,
    /// Nothing is claimed for ever: a later transaction gets every record, unless it is in doubt.
    ClaimedForever,
    /// Every interleaving ends.
    Ends,
}
