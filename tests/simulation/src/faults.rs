//! What goes wrong, and how often.

use crate::breakage::Breakage;
use crate::dice::Dice;
use crate::focus::Focus;

/// How often in a thousand times something goes wrong.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// A read of the store or a provider, of all reads.
    pub read_fails: u32,
    /// A write that does not arrive, and whose sender is told of no answer.
    pub request_lost: u32,
    /// A write that was done, and whose sender is told of no answer.
    pub answer_lost: u32,
    /// A write that arrives long after its sender was told of no answer.
    pub write_delayed: u32,
    /// A write that is done twice.
    pub write_repeated: u32,
    /// A provider that dies while it is asked to change something.
    pub call_dies: u32,
    /// A change that takes effect late.
    pub call_delayed: u32,
    /// A change that a provider refuses, or makes half.
    pub call_fails: u32,
    /// A change that takes long.
    pub call_slow: u32,
    /// A process that is killed, of all steps.
    pub killed: u32,
    /// A process that is suspended, of all steps.
    pub suspended: u32,
    /// A process that is suspended just when it has announced a call, or while that is under way, of all calls.
    pub suspended_at_call: u32,
    /// Somebody changes the world by hand, of all steps.
    pub by_hand: u32,
    breakage: Option<Breakage>,
}

impl Faults {
    /// Nothing goes wrong, but for what is broken.
    #[must_use]
    pub fn none(breakage: Option<Breakage>) -> Self {
        Self {
            read_fails: 0,
            request_lost: 0,
            answer_lost: 0,
            write_delayed: 0,
            write_repeated: 0,
            call_dies: 0,
            call_delayed: 0,
            call_fails: 0,
            call_slow: 0,
            killed: 0,
            suspended: 0,
            suspended_at_call: 0,
            by_hand: 0,
            breakage,
        }
    }

    /// What goes wrong in one simulation: each kind never, seldom or often, and what it concentrates on more often still.
    #[must_use]
    pub fn rolled(dice: &mut Dice, focus: Focus, breakage: Option<Breakage>) -> Self {
        let mut rate = |seldom: u32, often: u32| match dice.below(5) {
            0 | 1 => 0,
            2 | 3 => seldom,
            _ => often,
        };
        let rolled = Self {
            read_fails: rate(2, 10),
            request_lost: rate(5, 40),
            answer_lost: rate(10, 80),
            write_delayed: rate(5, 40),
            write_repeated: rate(10, 80),
            call_dies: rate(20, 150),
            call_delayed: rate(100, 500),
            call_fails: rate(50, 250),
            call_slow: rate(100, 500),
            killed: rate(2, 8),
            suspended: rate(2, 8),
            suspended_at_call: rate(5, 20),
            by_hand: rate(1, 4),
            breakage,
        };
        let none = Self::none(breakage);
        match focus {
            Focus::Everything => rolled,
            Focus::Contention => Self {
                call_delayed: rate(400, 900),
                killed: rate(2, 10),
                suspended: rate(5, 20),
                suspended_at_call: rate(50, 200),
                ..none
            },
            Focus::Creates => Self { call_dies: 200, killed: rate(2, 8), ..none },
            Focus::Links => Self { call_delayed: rate(200, 600), ..none },
        }
    }

    /// What is broken on purpose.
    #[must_use]
    pub fn breakage(&self) -> Option<Breakage> {
        self.breakage
    }
}
