//! Rules taken away on purpose, by a store, a clock or a provider that lies as if the engine did without them.

/// A rule taken away. A check that cannot fail is no check.
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
    /// Writes are not compared with what is there.
    WriteUnconditionally,
}

impl Breakage {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ForgetWriteId,
        Self::TakeOverLiveLease,
        Self::SkipLeaseCheck,
        Self::SettleWithinMargin,
        Self::ClearClaimWithResult,
        Self::DropRefusedResult,
        Self::ForgetDoubt,
        Self::SkipDependentsCheck,
        Self::WriteUnconditionally,
    ];

    /// Whether simulations notice that it is missing. Run, attempt and times tell bodies apart without a write id, and what is
    /// dropped when a result is refused, the takeover has found out by itself.
    #[must_use]
    pub fn is_noticed(self) -> bool {
        !matches!(self, Self::ForgetWriteId | Self::DropRefusedResult)
    }
}
