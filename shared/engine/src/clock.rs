//! Time, handed in.

use jiff::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// The clocks of a machine.
pub trait Clock: Send + Sync {
    /// The time now, as the wall clock has it.
    fn now(&self) -> Timestamp;
    /// Time since a fixed moment, which nobody sets and which goes on while the machine is suspended.
    fn elapsed(&self) -> Duration;
    /// Lets this much time pass.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(duration))
    }
    /// Seconds since the epoch.
    fn seconds(&self) -> i64 {
        self.now().as_second()
    }
}

/// Seconds since the epoch as people read them: `2026-01-31T12:00:00Z`.
pub fn moment(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// How long a sleep lasts at most before the clock is read again, which may have been set or have gone
/// on without us.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Returns when the wall clock has reached a moment.
pub(crate) async fn sleep_until(clock: &dyn Clock, moment: Timestamp) {
    loop {
        let left = moment.duration_since(clock.now());
        match Duration::try_from(left) {
            Ok(left) if !left.is_zero() => clock.sleep(left.min(LONGEST_SLEEP)).await,
            _ => return,
        }
    }
}
