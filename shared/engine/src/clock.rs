//! Time, handed in.

use jiff::Timestamp;

/// The wall clock.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
    /// Seconds since the epoch.
    fn seconds(&self) -> i64 {
        self.now().as_second()
    }
}
