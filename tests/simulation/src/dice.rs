//! Chance, of which one seed decides everything.

use std::time::Duration;

/// A sequence of numbers that a seed determines (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x5851_f42d_4c95_7f2d)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end.max(1) as u64).unwrap_or_default()
    }

    /// Whether something happens that happens so often in a thousand times.
    pub fn happens(&mut self, per_mille: u32) -> bool {
        per_mille > 0 && self.roll() % 1000 < u64::from(per_mille)
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }

    /// A time up to `most`.
    pub fn time(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX).max(1);
        Duration::from_millis(self.roll() % most)
    }

    /// A sequence of its own, for somebody who is asked at moments of their own.
    pub fn fork(&mut self) -> Self {
        Self(self.roll())
    }
}
