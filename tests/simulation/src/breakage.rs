//! Rules taken away on purpose, by a store, a clock or a provider that lies as if the engine did without them.

/// A rule taken away. A check that cannot fail is no check: each of these has to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breakage {
    /// Records are compared without their write id: what is written twice is one version.
    ForgetWriteId,
    /// Clocks are much further apart than everybody reckons with: leases that run look dead.
    TakeOverLiveLease,
    /// Clocks stand still while their process is suspended: it never learns that its lease is over.
    SkipLeaseCheck,
    /// Provider calls take effect long after the margin: what was settled within it was settled too early.
    SettleWithinMargin,
    /// Claims vanish with their result, before their transaction has ended.
    ClearClaimWithResult,
    /// What cannot be recorded in its place is not kept beside it.
    DropRefusedResult,
    /// That an object may exist is not kept.
    ForgetDoubt,
    /// Claims and objects do not say what they depend on.
    SkipDependentsCheck,
    /// Claims are not seen by whoever reads all records.
    HideClaims,
    /// Writes are not compared with what is there.
    WriteUnconditionally,
}

impl Breakage {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::ForgetWriteId,
        Self::TakeOverLiveLease,
        Self::SkipLeaseCheck,
        Self::SettleWithinMargin,
        Self::ClearClaimWithResult,
        Self::DropRefusedResult,
        Self::ForgetDoubt,
        Self::SkipDependentsCheck,
        Self::HideClaims,
        Self::WriteUnconditionally,
    ];
}
