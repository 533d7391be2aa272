//! Asking an operation to stop: a person does, or a deadline.

use crate::clock::{Clock, sleep_until};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// How far stopping has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum StopLevel {
    /// Not at all.
    Running,
    /// Begin nothing new; what is in flight has its time.
    Draining,
    /// Providers were asked to finish early.
    Graceful,
    /// Wait for nothing any more.
    Hard,
}

/// Who asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// The time is up: another invocation goes on.
    Deadline,
    /// A person, or a signal.
    Interrupt,
}

/// A signal to stop, shared by whoever asks and whoever works.
#[derive(Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Default)]
struct Inner {
    level: AtomicU8,
    interrupted: AtomicBool,
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
            1 => StopLevel::Draining,
            2 => StopLevel::Graceful,
            _ => StopLevel::Hard,
        }
    }
    /// Whether nothing new may begin.
    pub fn is_stopping(&self) -> bool {
        self.level() > StopLevel::Running
    }
    /// Who asked, if anybody did. A person's word counts more than a deadline.
    pub fn cause(&self) -> Option<StopCause> {
        match (self.0.interrupted.load(Ordering::SeqCst), self.is_stopping()) {
            (true, _) => Some(StopCause::Interrupt),
            (false, true) => Some(StopCause::Deadline),
            (false, false) => None,
        }
    }
    /// A person asks to stop; the second time for good.
    pub fn request(&self) -> StopLevel {
        match self.0.interrupted.swap(true, Ordering::SeqCst) {
            false => self.raise(StopLevel::Graceful),
            true => self.raise(StopLevel::Hard),
        }
        self.level()
    }
    /// Leaves what has not begun to another invocation, as a deadline does; what is in flight has all its time.
    pub fn hand_over(&self) {
        self.raise(StopLevel::Draining);
    }
    fn raise(&self, level: StopLevel) {
        self.0.level.fetch_max(level as u8, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
    /// Returns when stopping has gone at least so far.
    pub async fn reached(&self, level: StopLevel) {
        self.until(|stop| stop.level() >= level).await;
    }
    /// Returns when a person has asked to stop for good.
    pub(crate) async fn aborted(&self) {
        let aborted = |stop: &Stop| {
            stop.cause() == Some(StopCause::Interrupt) && stop.level() == StopLevel::Hard
        };
        self.until(aborted).await;
    }
    async fn until(&self, condition: impl Fn(&Stop) -> bool) {
        loop {
            let changed = self.0.changed.notified();
            if condition(self) {
                return;
            }
            changed.await;
        }
    }
}

/// When an invocation must have answered, and how it gets there: it begins nothing new, then asks
/// providers to stop, then waits for none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When the answer is due.
    pub end: Timestamp,
    /// No new provider call starts with less time than this left.
    pub threshold: Duration,
}

impl Deadline {
    /// The threshold where nothing else is said.
    pub const THRESHOLD: Duration = Duration::from_secs(45);

    /// A deadline with the usual threshold.
    pub fn at(end: Timestamp) -> Deadline {
        Deadline { end, threshold: Deadline::THRESHOLD }
    }

    /// Whether less time is left than a new provider call may need.
    pub(crate) fn is_near(&self, clock: &dyn Clock) -> bool {
        !self.may_begin_at(clock.now())
    }

    /// Whether something may still begin at a moment.
    pub(crate) fn may_begin_at(&self, moment: Timestamp) -> bool {
        moment < self.when(StopLevel::Draining)
    }

    /// When a level is reached: of the threshold, two thirds are for calls in flight to end by themselves,
    /// two ninths for providers that were asked to stop, and the rest for writing down and answering.
    fn when(&self, level: StopLevel) -> Timestamp {
        let before = match level {
            StopLevel::Running | StopLevel::Draining => self.threshold,
            StopLevel::Graceful => self.threshold / 3,
            StopLevel::Hard => self.threshold / 9,
        };
        earlier(self.end, before)
    }

    /// Asks to stop as time goes by, and returns when the answer is due.
    pub(crate) async fn watch(&self, clock: &dyn Clock, stop: &Stop) {
        for level in [StopLevel::Draining, StopLevel::Graceful, StopLevel::Hard] {
            sleep_until(clock, self.when(level)).await;
            stop.raise(level);
        }
        sleep_until(clock, self.end).await;
    }
}

fn earlier(end: Timestamp, before: Duration) -> Timestamp {
    SignedDuration::try_from(before)
        .ok()
        .and_then(|before| end.checked_sub(before).ok())
        .unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::Mutex;

    /// A clock on which time passes only while somebody sleeps.
    #[derive(Default)]
    struct TestClock(Arc<Mutex<Duration>>);

    impl Clock for TestClock {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH.checked_add(self.elapsed()).unwrap()
        }
        fn elapsed(&self) -> Duration {
            *self.0.lock().unwrap()
        }
        fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            let now = self.0.clone();
            Box::pin(async move {
                *now.lock().unwrap() += duration;
                tokio::task::yield_now().await;
            })
        }
    }

    #[tokio::test]
    async fn a_deadline_asks_ever_more_urgently() {
        let clock = TestClock::default();
        let end = Timestamp::from_second(100).unwrap();
        let deadline = Deadline::at(end);
        let (stop, seen) = (Stop::new(), Mutex::new(Vec::new()));
        let note = |level| {
            let (stop, seen, clock) = (&stop, &seen, &clock);
            async move {
                stop.reached(level).await;
                assert!(clock.now() >= deadline.when(level), "{level:?} came early");
                seen.lock().unwrap().push(level);
            }
        };
        assert_eq!(stop.cause(), None);
        tokio::join!(
            note(StopLevel::Hard),
            note(StopLevel::Graceful),
            note(StopLevel::Draining),
            deadline.watch(&clock, &stop),
        );
        let order = [StopLevel::Draining, StopLevel::Graceful, StopLevel::Hard];
        assert_eq!(*seen.lock().unwrap(), order);
        assert_eq!(clock.now(), end);
        assert_eq!(stop.cause(), Some(StopCause::Deadline));
    }

    #[test]
    fn a_persons_word_counts_more_than_a_deadline() {
        let stop = Stop::new();
        stop.raise(StopLevel::Graceful);
        assert_eq!(stop.request(), StopLevel::Graceful);
        assert_eq!(stop.cause(), Some(StopCause::Interrupt));
        assert_eq!(stop.request(), StopLevel::Hard);
    }
}
