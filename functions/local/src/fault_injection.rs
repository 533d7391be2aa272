//! For tests of what is left when the process is killed. Packages are built without debug assertions, and
//! know nothing of it.

use crate::environment::ProcessEnvironment;
use records::RecordStore;
use std::sync::Arc;

/// The store; where `PLUMB_TEST_KILL_AFTER_WRITE` is a number, that write to it is the last thing that this
/// process does.
#[cfg(debug_assertions)]
pub(crate) fn mortal(
    store: Arc<dyn RecordStore>,
    environment: &ProcessEnvironment,
) -> Arc<dyn RecordStore> {
    use records::testing::{Answer, ObservedStore, Write};
    use rustix::process::{Signal, getpid, kill_process};

    let number = environment.get("PLUMB_TEST_KILL_AFTER_WRITE");
    let Some(last) = number.and_then(|number| number.parse::<u64>().ok()) else {
        return store;
    };
    Arc::new(ObservedStore::new(store, move |write: &Write| {
        if write.number < last {
            return Answer::Deliver;
        }
        // As `kill -9` does it: nothing is run or flushed on the way out.
        let _ = kill_process(getpid(), Signal::KILL);
        Answer::Withhold
    }))
}

#[cfg(not(debug_assertions))]
pub(crate) fn mortal(store: Arc<dyn RecordStore>, _: &ProcessEnvironment) -> Arc<dyn RecordStore> {
    store
}
