//! When nobody can go on by himself.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Tells when a runtime has nothing to do.
#[derive(Clone, Default)]
pub(crate) struct Idle(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_idle: bool,
    waker: Option<Waker>,
}

impl Idle {
    /// The runtime is about to park.
    pub(crate) fn parks(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_idle = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Returns when every task waits for something.
    pub(crate) async fn reached(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_idle = false;
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match state.is_idle {
                true => Poll::Ready(()),
                false => {
                    state.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
    }
}
