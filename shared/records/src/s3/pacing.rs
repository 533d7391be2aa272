//! How many requests are under way at once, and when a failed one is sent again.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::answer::Meaning;

/// Requests at once, per core, where nothing else is set.
const PER_CORE: usize = 8;

/// Bounds the requests that are under way: half as many after a throttled answer, one more after as many
/// good answers as may be under way.
#[derive(Debug)]
pub(super) struct Pace {
    most: usize,
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// How many may be under way.
    allowed: usize,
    /// How many permits there are; more than are allowed until those that are under way come back.
    issued: usize,
    good_answers: usize,
    /// Raised by every halving, so that answers to requests sent before it do not halve again.
    epoch: u64,
}

/// Leave to send one request.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pace: &'a Pace,
    permit: Option<SemaphorePermit<'a>>,
    epoch: u64,
}

impl Pace {
    pub(super) fn new(most: Option<NonZeroUsize>) -> Self {
        let most = most.map_or_else(
            || PER_CORE * std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            NonZeroUsize::get,
        );
        let state = State { allowed: most, issued: most, good_answers: 0, epoch: 0 };
        Self { most, permits: Semaphore::new(most), state: Mutex::new(state) }
    }

    /// The most requests that are ever under way at once.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Waits until a request may be sent.
    pub(super) async fn turn(&self) -> Turn<'_> {
        // The semaphore is never closed; without a permit a turn is merely not counted.
        let permit = self.permits.acquire().await.ok();
        Turn { pace: self, permit, epoch: self.locked().epoch }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn allowed(&self) -> usize {
        self.locked().allowed
    }
}

impl Turn<'_> {
    /// Says that the service answered as it should.
    pub(super) fn answered(self) {
        let mut state = self.pace.locked();
        state.good_answers += 1;
        if state.good_answers >= state.allowed && state.allowed < self.pace.most {
            state.good_answers = 0;
            state.allowed += 1;
            if state.issued < state.allowed {
                state.issued += 1;
                self.pace.permits.add_permits(1);
            }
        }
    }

    /// Says that the service asked for fewer requests.
    pub(super) fn throttled(self) {
        let mut state = self.pace.locked();
        if state.epoch == self.epoch {
            state.epoch += 1;
            state.good_answers = 0;
            state.allowed = (state.allowed / 2).max(1);
            // What nobody uses goes at once; the rest as requests end.
            let surplus = state.issued.saturating_sub(state.allowed);
            state.issued -= self.pace.permits.forget_permits(surplus);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.pace.locked();
        if state.issued > state.allowed
            && let Some(permit) = self.permit.take()
        {
            state.issued -= 1;
            permit.forget();
        }
    }
}

/// How often one request is sent again, and until when.
#[derive(Debug)]
pub(super) struct Retries {
    began: Instant,
    patience: Duration,
    unanswered: u32,
    throttled: u32,
    concurrent: u32,
}

impl Retries {
    /// No attempt begins later than `patience` from now.
    pub(super) fn within(patience: Duration) -> Self {
        Self { began: Instant::now(), patience, unanswered: 0, throttled: 0, concurrent: 0 }
    }

    /// How long to wait before the request is sent again; `None` when it is not.
    pub(super) fn after(&mut self, meaning: Meaning) -> Option<Duration> {
        let (count, most, first) = match meaning {
            Meaning::Unanswered => (&mut self.unanswered, 3, Duration::from_millis(50)),
            Meaning::Throttled => (&mut self.throttled, 8, Duration::from_millis(100)),
            Meaning::ConcurrentRequest => (&mut self.concurrent, 20, Duration::from_millis(10)),
            _ => return None,
        };
        if *count >= most || self.began.elapsed() > self.patience {
            return None;
        }
        let longest = first.saturating_mul(1 << (*count).min(6)).min(Duration::from_secs(3));
        *count += 1;
        Some(longest.mul_f64(0.5 + jitter() / 2.0))
    }
}

/// From 0 to 1, so that those who were refused together do not come back together. It decides nothing but
/// moments, and so is not handed in.
fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn throttled_answers_halve_once_for_all_that_were_under_way() {
        let pace = Pace::new(NonZeroUsize::new(16));
        let mut turns = Vec::new();
        for _ in 0..16 {
            turns.push(pace.turn().await);
        }
        for turn in turns {
            turn.throttled();
        }
        assert_eq!(pace.allowed(), 8);
        assert_eq!(pace.permits.available_permits(), 8);
        pace.turn().await.throttled();
        pace.turn().await.throttled();
        pace.turn().await.throttled();
        pace.turn().await.throttled();
        assert_eq!((pace.allowed(), pace.permits.available_permits()), (1, 1));
    }

    #[tokio::test]
    async fn good_answers_bring_the_pace_back() {
        let pace = Pace::new(NonZeroUsize::new(4));
        pace.turn().await.throttled();
        pace.turn().await.throttled();
        assert_eq!(pace.allowed(), 1);
        for _ in 0..1 + 2 + 3 {
            pace.turn().await.answered();
        }
        assert_eq!((pace.allowed(), pace.permits.available_permits()), (4, 4));
        pace.turn().await.answered();
        assert_eq!((pace.allowed(), pace.permits.available_permits()), (4, 4));
    }

    #[test]
    fn a_request_is_not_sent_forever() {
        let mut retries = Retries::within(Duration::from_secs(30));
        let waits: Vec<_> = std::iter::from_fn(|| retries.after(Meaning::Unanswered)).collect();
        assert_eq!(waits.len(), 3);
        assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(3)));
        assert!(retries.after(Meaning::Throttled).is_some());
        assert!(retries.after(Meaning::Refused).is_none());
        assert!(retries.after(Meaning::Precondition).is_none());
        assert!(*waits.last().unwrap() > waits[0] / 2);
    }
}
