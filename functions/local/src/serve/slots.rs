//! Places to work in. As with Lambda, one invocation at a time works in each, and what it leaves there serves the next.

use runs::function_environment::FunctionEnvironment;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many invocations work at once.
const SLOTS: usize = 8;

type Make = dyn Fn(usize) -> FunctionEnvironment + Send + Sync;

/// All places. Lower ones are taken first, so that what is unpacked there is seldom unpacked twice.
pub(crate) struct Slots {
    make: Box<Make>,
    free: Mutex<BTreeMap<usize, Option<Arc<FunctionEnvironment>>>>,
    /// Those that were made, whoever has them.
    made: Mutex<Vec<Arc<FunctionEnvironment>>>,
    permits: Arc<Semaphore>,
}

/// A place while somebody works in it.
pub(super) struct Slot {
    number: usize,
    pub(super) environment: Arc<FunctionEnvironment>,
    slots: Arc<Slots>,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    /// `make` makes the place of a number.
    pub(crate) fn new(
        make: impl Fn(usize) -> FunctionEnvironment + Send + Sync + 'static,
    ) -> Arc<Slots> {
        Arc::new(Slots {
            make: Box::new(make),
            free: Mutex::new((0..SLOTS).map(|number| (number, None)).collect()),
            made: Mutex::default(),
            permits: Arc::new(Semaphore::new(SLOTS)),
        })
    }

    /// The lowest place that is free, once one is; `None` where the server stops.
    pub(super) async fn take(self: &Arc<Slots>) -> Option<Slot> {
        let permit = self.permits.clone().acquire_owned().await.ok()?;
        let lowest = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
        let (number, environment) = lowest?;
        let environment = environment.unwrap_or_else(|| {
            let made = Arc::new((self.make)(number));
            self.made.lock().unwrap_or_else(PoisonError::into_inner).push(made.clone());
            made
        });
        let slot = Slot { number, environment, slots: self.clone(), _permit: permit };
        // A place that was made since the server stops has not been asked to hand over.
        (!self.permits.is_closed()).then_some(slot)
    }

    /// Has whoever works leave the rest to a later process, and lets nobody begin.
    pub(crate) fn hand_over(&self) {
        self.permits.close();
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().for_each(|environment| environment.handover.ask());
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut free = self.slots.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.insert(self.number, Some(self.environment.clone()));
    }
}
