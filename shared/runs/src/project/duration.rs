//! Lengths of time as people write them.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The longest length of time, so that no time which it is added to is beyond what clocks know: a hundred years.
const LONGEST: i64 = 36_500 * 24 * 60 * 60;

/// A length of time in whole seconds, written as a number with one of the units `s`, `m`, `h` and `d`: `"90s"`,
/// `"24h"`. A day has 24 hours; there are at most 36 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub i64);

impl Seconds {
    /// Reads one; `None` where it is none, or is not above nothing.
    pub fn parse(text: &str) -> Option<Seconds> {
        seconds(text).filter(|seconds| *seconds > 0).map(Seconds)
    }
}

fn seconds(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let digits = text.strip_suffix(unit)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<i64>().ok()?.checked_mul(factor).filter(|seconds| *seconds <= LONGEST)
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        let text = String::deserialize(deserializer)?;
        Seconds::parse(&text).ok_or_else(|| no_length(&text))
    }
}

/// Seconds that may be none at all.
pub(super) fn zero_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    seconds(&text).ok_or_else(|| no_length(&text))
}

fn no_length<E: Error>(text: &str) -> E {
    E::custom(format!(
        "{text:?} is no length of time; write a number and a unit (s, m, h or d), such as \"24h\", and at most \"36500d\""
    ))
}
