//! Asking an operation to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::sync::Notify;

/// How far stopping has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Not at all.
    Running,
    /// Begin nothing new; providers were asked to finish early.
    Graceful,
    /// Wait for nothing any more.
    Hard,
}

/// A signal to stop, shared by whoever asks and whoever works.
#[derive(Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Default)]
struct Inner {
    level: AtomicU8,
    changed: Notify,
}

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Stop {
        Stop::default()
    }
    /// How far stopping has gone.
    pub fn level(&self) -> StopLevel {
        match self.0.level.load(Ordering::SeqCst) {
            0 => StopLevel::Running,
            1 => StopLevel::Graceful,
            _ => StopLevel::Hard,
        }
    }
    /// Whether nothing new may begin.
    pub fn is_stopping(&self) -> bool {
        self.level() > StopLevel::Running
    }
    /// Asks to stop; the second time for good.
    pub fn request(&self) -> StopLevel {
        let before = self.0.level.load(Ordering::SeqCst);
        let after = before.saturating_add(1).min(2);
        self.0.level.store(after, Ordering::SeqCst);
        self.0.changed.notify_waiters();
        self.level()
    }
    /// Returns when stopping has gone at least so far.
    pub async fn reached(&self, level: StopLevel) {
        loop {
            let changed = self.0.changed.notified();
            if self.level() >= level {
                return;
            }
            changed.await;
        }
    }
}
