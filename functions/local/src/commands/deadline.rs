//! `-deadline=DURATION`: how long one part of an apply may take.

use crate::flags::{Flags, UsageError};
use engine::Deadline;
use engine::clock::Clock;
use jiff::SignedDuration;
use std::time::Duration;

pub(super) const FLAG: &str = "deadline";

/// The exit code that says: run the same command again.
pub(super) const TO_BE_CONTINUED: u8 = 8;

/// # Errors
/// Where the value is no duration, or none at all.
pub(super) fn parse(flags: &Flags, clock: &dyn Clock) -> Result<Option<Deadline>, UsageError> {
    let Some(text) = flags.value(FLAG) else { return Ok(None) };
    let invalid = || {
        UsageError::other(
            &format!("Invalid deadline {text:?}"),
            "Give -deadline a duration above zero, as in -deadline=90s or -deadline=14m.",
        )
    };
    let length = text.parse::<SignedDuration>().map_err(|_| invalid())?;
    let whole = Duration::try_from(length).ok().filter(|whole| !whole.is_zero());
    let end = clock.now().checked_add(length).map_err(|_| invalid())?;
    // A short part uses half of its time to begin, and half to finish.
    let threshold = whole.ok_or_else(invalid)?.div_f64(2.0).min(Deadline::THRESHOLD);
    Ok(Some(Deadline { end, threshold }))
}
