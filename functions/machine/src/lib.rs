//! Clock and randomness of this machine: what every program of ours hands to the libraries.

use engine::clock::Clock;
use engine::random::Random;
use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The wall clock, and one that counts suspension.
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
    fn elapsed(&self) -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        let (seconds, nanoseconds) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
    }
}

/// The operating system's randomness.
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            // Ids and keys that can be foreseen are worse than none.
            panic!("the operating system gives no randomness: {error}");
        }
    }
}
