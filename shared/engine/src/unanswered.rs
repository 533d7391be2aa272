//! Provider calls that were begun and never answered: until the margin has passed they may still come to pass, and nothing is
//! concluded from them.

use crate::clock::Clock;
use crate::environment::Environment;
use crate::stop::Deadline;
use futures::FutureExt;
use jiff::{SignedDuration, Timestamp};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use values::address::ResourceInstance;

/// Instances whose calls may still come to pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The instances, in order.
    pub addresses: Vec<ResourceInstance>,
    /// When what was asked has come to pass, or never will.
    pub until: Timestamp,
    left: Duration,
}

impl Unanswered {
    /// Calls that may come to pass for as long as `left`, counted from `now`.
    pub(crate) fn new(
        addresses: Vec<ResourceInstance>,
        now: Timestamp,
        left: Duration,
    ) -> Unanswered {
        let later = SignedDuration::try_from(left).ok().and_then(|left| now.checked_add(left).ok());
        Unanswered { addresses, until: later.unwrap_or(Timestamp::MAX), left }
    }

    /// A call that may come to pass until `quiet`, seconds since the epoch.
    pub(crate) fn until(address: &ResourceInstance, now: Timestamp, quiet: i64) -> Unanswered {
        let until = Timestamp::from_second(quiet).unwrap_or(now);
        let left = Duration::try_from(until.duration_since(now)).unwrap_or_default();
        Unanswered { addresses: vec![address.clone()], until, left }
    }

    /// Whether nothing can come to pass any more.
    fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    /// Waits until nothing can come to pass any more, and tells observers of that. `false` where the deadline leaves no time
    /// for it, or `given_up` came first.
    pub(crate) async fn outlast(
        &self,
        environment: &Environment,
        deadline: Option<Deadline>,
        given_up: impl Future<Output = ()>,
    ) -> bool {
        if self.is_over() {
            return true;
        }
        let mut given_up = pin!(given_up);
        let in_time = deadline.is_none_or(|deadline| deadline.may_begin_at(self.until));
        if !in_time || given_up.as_mut().now_or_never().is_some() {
            return false;
        }
        for hook in &environment.hooks {
            hook.unanswered(&self.addresses, self.until);
        }
        tokio::select! {
            biased;
            () = environment.clock.sleep(self.left) => true,
            () = given_up => false,
        }
    }

    /// The same without observers, and whatever happens.
    pub(crate) async fn outlast_in_silence(&self, clock: &dyn Clock) {
        if !self.is_over() {
            clock.sleep(self.left).await;
        }
    }
}
