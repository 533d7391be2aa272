//! Which errors are tried again, and after how long.

use engine::random::Random;
use serde::Deserialize;

/// Stands for every error.
const EVERY: &str = "States.ALL";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Retrier {
    error_equals: Vec<String>,
    interval_seconds: u32,
    pub(super) max_attempts: u32,
    backoff_rate: f64,
    max_delay_seconds: Option<u32>,
    #[serde(default)]
    jitter_strategy: Jitter,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Jitter {
    #[default]
    None,
    Full,
}

/// Whether a list of errors covers one.
pub(super) fn covers(listed: &[String], error: &str) -> bool {
    listed.iter().any(|name| name == error || name == EVERY)
}

impl Retrier {
    pub(super) fn covers(&self, error: &str) -> bool {
        covers(&self.error_equals, error)
    }

    /// Seconds to wait before an attempt is repeated, of which so many were repeated before.
    pub(super) fn pause(&self, before: u32, random: &dyn Random) -> i64 {
        let exponent = i32::try_from(before).unwrap_or(i32::MAX);
        let grown = f64::from(self.interval_seconds) * self.backoff_rate.powi(exponent);
        let longest = self.max_delay_seconds.map_or(f64::from(u32::MAX), f64::from);
        let share = match self.jitter_strategy {
            Jitter::None => 1.0,
            Jitter::Full => {
                let mut byte = [0];
                random.fill(&mut byte);
                f64::from(byte[0]) / f64::from(u8::MAX)
            }
        };
        // A number of seconds that is bounded by that of an u32.
        (grown.min(longest) * share).ceil() as i64
    }
}
