//! Clock and randomness of this machine.

use engine::clock::Clock;
use engine::random::Random;
use jiff::Timestamp;

/// The wall clock.
pub(crate) struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// The operating system's randomness.
pub(crate) struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            // Ids and keys that can be foreseen are worse than none.
            panic!("the operating system gives no randomness: {error}");
        }
    }
}
