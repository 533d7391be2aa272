//! Time, handed in.

/// The wall clock.
pub trait Clock: Send + Sync {
    /// Seconds since the epoch.
    fn now(&self) -> i64;
}
