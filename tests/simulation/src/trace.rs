//! What happened, in order.

use std::fmt::{self, Write};
use std::time::Duration;

/// What happened. The fingerprint depends on every line; the lines themselves are kept on request.
#[derive(Debug, Default)]
pub struct Trace {
    lines: Option<Vec<String>>,
    fingerprint: u64,
    line: String,
}

impl Trace {
    /// A trace that keeps its lines, or only their fingerprint.
    #[must_use]
    pub fn new(keep: bool) -> Self {
        Self { lines: keep.then(Vec::new), ..Self::default() }
    }

    /// Notes what happened at a time.
    pub fn note(&mut self, now: Duration, what: fmt::Arguments<'_>) {
        self.line.clear();
        // Writing to a text does not fail.
        let _ = write!(self.line, "{:>9.3}  {what}", now.as_secs_f64());
        for byte in self.line.bytes() {
            self.fingerprint = (self.fingerprint ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if let Some(lines) = &mut self.lines {
            lines.push(self.line.clone());
        }
    }

    /// Whether lines are kept: then they are worth more words.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.lines.is_some()
    }

    /// Tells traces apart that differ anywhere.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The lines, where they were kept.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.lines.as_deref().unwrap_or_default()
    }
}
