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
