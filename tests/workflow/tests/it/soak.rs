//! How far tests go: as far as every change must be tested, or as far as there is time for.

use std::time::SystemTime;

/// The larger number where the environment has `PLUMB_TEST_SOAK`.
pub(crate) fn or(soak: usize, usual: usize) -> usize {
    match std::env::var_os("PLUMB_TEST_SOAK") {
        Some(_) => soak,
        None => usual,
    }
}

/// Numbers from a seed: that of `PLUMB_TEST_SEED`, or a new one.
pub(crate) struct Random {
    pub(crate) seed: u64,
    state: u64,
}

impl Random {
    pub(crate) fn new() -> Random {
        let given = std::env::var("PLUMB_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let seed = given.unwrap_or_else(|| u64::from(now.subsec_nanos()));
        Random { seed, state: seed }
    }

    /// A number below another one (splitmix64).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
