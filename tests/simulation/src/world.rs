//! What exists, and changes only by a request that is performed.

use crate::breakage::Breakage;
use crate::dice::Dice;
use crate::faults::Faults;
use crate::storage::Storage;
use crate::things::{Change, Extent, Outcome, Things};
use std::time::Duration;

/// What exists.
pub struct World {
    /// The time, since the simulation began.
    pub now: Duration,
    /// What providers keep.
    pub things: Things,
    /// What the stores keep.
    pub storage: Storage,
    /// Within this time a provider call takes effect, or never.
    pub longest_call: Duration,
    /// How far two clocks are apart at most.
    pub skew: Duration,
    /// How long a process is suspended at most.
    pub longest_suspension: Duration,
    /// Set by what was just performed: its answer takes until then.
    pub slow_until: Option<Duration>,
    /// Whether creates carry request tokens.
    pub tokens: bool,
    dice: Dice,
    call_fails: u32,
    call_slow: u32,
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(dice: &mut Dice, faults: &Faults, times: &Times) -> Self {
        let breakage = faults.breakage();
        let storage = Storage::new(dice.happens(500), breakage);
        let (longest_call, skew) = match breakage {
            Some(Breakage::SettleWithinMargin) => (times.margin * 8, times.skew),
            Some(Breakage::TakeOverLiveLease) => (times.margin, times.lease * 8),
            _ => (times.margin, times.skew),
        };
        Self {
            now: Duration::ZERO,
            things: Things::default(),
            storage,
            longest_call,
            skew,
            longest_suspension: times.lease * 5,
            slow_until: None,
            tokens: dice.happens(400),
            dice: dice.fork(),
            call_fails: faults.call_fails,
            call_slow: faults.call_slow,
        }
    }

    /// Nothing fails any more.
    pub fn heal(&mut self) {
        (self.call_fails, self.call_slow) = (0, 0);
    }

    /// A provider does what it is asked to, or fails.
    pub fn change(&mut self, change: &Change, sent: Duration) -> Outcome {
        let extent = match () {
            () if self.dice.happens(self.call_fails) => match self.dice.happens(500) {
                true => Extent::Half,
                false => Extent::Nowhere,
            },
            () if self.dice.happens(self.call_slow) => {
                // What takes effect in the end does so within the time that a call has.
                let left = (sent + self.longest_call).saturating_sub(self.now);
                let until = self.now + self.dice.time(left);
                self.slow_until = Some(until);
                Extent::Slowly(until)
            }
            () => Extent::Whole,
        };
        self.things.change(change, extent)
    }

    /// Somebody changes something by hand.
    pub fn change_by_hand(&mut self) -> Option<String> {
        let ids: Vec<String> = self.things.all.keys().cloned().collect();
        let id = self.dice.pick(&ids)?.clone();
        Some(match self.dice.below(6) {
            0 => {
                self.things.delete_by_hand(&id);
                format!("{id} is deleted")
            }
            1 | 2 => {
                let value = format!("by hand {}", self.dice.below(1000));
                let words = format!("{id} has the value {value:?}");
                let thing = self.things.all.get_mut(&id)?;
                (thing.facts.value, thing.unfinished) = (Some(value), None);
                words
            }
            _ => {
                self.things.all.get_mut(&id)?.facts.hits += 1;
                format!("{id} has one hit more")
            }
        })
    }
}

/// The times that everybody goes by.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How long a lease is.
    pub lease: Duration,
    /// How long a request may be on its way.
    pub margin: Duration,
    /// How far clocks are apart.
    pub skew: Duration,
}
