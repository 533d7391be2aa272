//! Leaving what is at work to a later process.

use engine::Stop;
use std::sync::{Mutex, PoisonError};

/// Who works in one environment, and may have to leave the rest to others: as a deadline has it, nothing new begins, and what is
/// in flight ends by itself and is recorded.
#[derive(Default)]
pub struct Handover(Mutex<Latest>);

#[derive(Default)]
struct Latest {
    asked: bool,
    stop: Stop,
}

impl Handover {
    /// Has whoever works here, now or later, leave the rest to others.
    pub fn ask(&self) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.asked = true;
        latest.stop.hand_over();
    }

    /// What somebody who begins to work here listens to. One works here at a time.
    pub(crate) fn begin(&self) -> Stop {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.stop = Stop::new();
        if latest.asked {
            latest.stop.hand_over();
        }
        latest.stop.clone()
    }
}
