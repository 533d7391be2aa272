use crate::clock::moment;
use crate::estate::EstateError;
use crate::identifiers::{PlanId, Principal, RunId};
use crate::record::body::{BodyError, Phase, TransactionBody};
use records::StoreError;
use std::fmt;
use values::address::ResourceInstance;

/// Who is at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A run that has written so.
    Run(RunId, Principal),
    /// A process that has written nothing yet.
    Process,
}

impl Holder {
    pub(crate) fn of(body: &TransactionBody) -> Holder {
        Holder::Run(body.run.clone(), body.principal.clone())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Run(run, principal) => write!(f, "the run {run} of {principal}"),
            Holder::Process => f.write_str("another process on this machine"),
        }
    }
}

/// A transaction cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransactionError {
    /// The plan was applied, refused or given up before.
    #[error(
        "the plan {plan} was used already: the run {run} of {principal} left it {phase}. A plan is applied once, so \
         that nothing is made twice, and nothing was changed now; make a new one with `plumb plan`"
    )]
    Used {
        /// The plan.
        plan: PlanId,
        /// How far it got.
        phase: Phase,
        /// The run that used it.
        run: RunId,
        /// Who started that run.
        principal: Principal,
    },
    /// Another invocation works on this plan.
    #[error(
        "the plan {plan} is being applied by {holder}, and nothing was changed here; its lease ends at {}. Wait \
         for it, or try the same plan again after that",
        moment(*until)
    )]
    Busy {
        /// The plan.
        plan: PlanId,
        /// Who is at work.
        holder: Holder,
        /// When its lease ends, seconds since the epoch.
        until: i64,
    },
    /// Another invocation took this transaction over.
    #[error(
        "the transaction of the plan {plan} was taken over by another invocation, which goes on with it; nothing more \
         is begun here"
    )]
    TakenOver {
        /// The plan.
        plan: PlanId,
    },
    /// What a dead transaction had in flight cannot be found out at present.
    #[error(
        "the run {run} of {principal} was stopped while it was changing {address}, and what became of that cannot be \
         found out now: {reason}. Nothing was changed here; run the same command again once it can be"
    )]
    Unsettled {
        /// The instance in flight.
        address: Box<ResourceInstance>,
        /// The run that was stopped.
        run: RunId,
        /// Who started it.
        principal: Principal,
        /// Why the provider could not be asked.
        reason: String,
    },
    /// It is not at work, and has nothing to be released.
    #[error(
        "the transaction of the plan {plan} is {phase}: it holds no claims, and nothing was changed"
    )]
    NotAtWork {
        /// The plan.
        plan: PlanId,
        /// How far it got.
        phase: Phase,
    },
    /// Its process lives.
    #[error(
        "{holder} works on the plan {plan} in a process on this machine that lives, so that nothing was changed. End that process: \
         what it has claimed is free at once then"
    )]
    AliveHere {
        /// The plan.
        plan: PlanId,
        /// Who is at work.
        holder: Holder,
    },
    /// This machine's clock is not the store's.
    #[error(
        "this machine's clock is {} seconds {} the store's, and only clocks that differ by at most {skew} seconds agree on \
         who may change what. Nothing was changed; set the clock right, then run the same command again",
        ahead.abs(), if *ahead > 0 { "behind" } else { "ahead of" }
    )]
    Clocks {
        /// By how many seconds the store's clock is ahead of this machine's.
        ahead: i64,
        /// How much clocks may differ, in seconds.
        skew: i64,
    },
    /// The estate cannot be read or written.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for TransactionError {
    fn from(error: StoreError) -> TransactionError {
        TransactionError::Estate(error.into())
    }
}
impl From<BodyError> for TransactionError {
    fn from(error: BodyError) -> TransactionError {
        TransactionError::Estate(error.into())
    }
}
