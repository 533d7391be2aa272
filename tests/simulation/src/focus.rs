//! What a simulation concentrates on, so that what meets seldom meets often.

use crate::breakage::Breakage;
use crate::dice::Dice;
use std::time::Duration;

/// What a simulation concentrates on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// Nothing: a bit of everything.
    #[default]
    Everything,
    /// One thing, which several teams change again and again, with calls that take effect late.
    Contention,
    /// Things are made, and providers die meanwhile.
    Creates,
    /// What one team deletes, another refers to.
    Links,
}

impl Focus {
    /// What a seed concentrates on; where a rule is taken away, on what that rule is for.
    #[must_use]
    pub fn rolled(dice: &mut Dice, breakage: Option<Breakage>) -> Self {
        let rolled = match dice.below(10) {
            0 | 1 => Self::Contention,
            2 => Self::Creates,
            3 => Self::Links,
            _ => Self::Everything,
        };
        match breakage {
            None => rolled,
            Some(Breakage::WriteUnconditionally | Breakage::ClearClaimWithResult) => {
                Self::Everything
            }
            Some(
                Breakage::ForgetWriteId
                | Breakage::TakeOverLiveLease
                | Breakage::SkipLeaseCheck
                | Breakage::SettleWithinMargin
                | Breakage::DropRefusedResult,
            ) => Self::Contention,
            Some(Breakage::ForgetDoubt) => Self::Creates,
            Some(Breakage::SkipDependentsCheck) => Self::Links,
        }
    }

    /// How often a team plans and applies.
    #[must_use]
    pub fn rounds(self) -> usize {
        match self {
            Self::Everything => 1,
            Self::Creates | Self::Links => 2,
            Self::Contention => 3,
        }
    }

    /// How long people wait at most before they plan or apply, who would wait for so long otherwise.
    #[must_use]
    pub fn pause(self, most: Duration) -> Duration {
        match self {
            Self::Everything => most,
            Self::Creates | Self::Contention | Self::Links => most / 8,
        }
    }
}
