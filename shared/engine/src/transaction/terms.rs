//! The times and numbers that transactions go by.

use crate::saved_plan::DEFAULT_EXPIRY;

/// The times and numbers that transactions go by. All invocations on one estate use the same. How much time
/// must be left for a provider call to begin is in the invocation's own [`Deadline`](crate::Deadline).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long a plan may be applied, in seconds; what no living plan can know is swept after it.
    pub plan_expiry: i64,
    /// How long a lease lasts that is renewed by heartbeat, in seconds. It is renewed three times as often.
    pub lease: i64,
    /// How long after its end another transaction's lease counts as running, in seconds, so that a request in
    /// flight has ended too.
    pub margin: i64,
    /// How far two clocks may be apart, in seconds.
    pub skew: i64,
    /// How long to wait for a transaction that is still claiming, in seconds.
    pub wait_for_busy: i64,
    /// After how many invocations without progress an unfinished object is in doubt.
    pub attempts_without_progress: u32,
    /// How many records are read or written at once.
    pub parallelism: usize,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            plan_expiry: DEFAULT_EXPIRY,
            lease: 60,
            margin: 30,
            skew: 5,
            wait_for_busy: 30,
            attempts_without_progress: 5,
            parallelism: 16,
        }
    }
}
