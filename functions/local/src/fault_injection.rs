//! For tests of what is left when the process dies: it ends right after one write.

use records::{DirectoryStore, RecordStore};
use std::sync::Arc;

#[cfg(feature = "fault-injection")]
pub(crate) fn observed(store: DirectoryStore) -> Arc<dyn RecordStore> {
    use records::testing::{Answer, ObservedStore, Write};
    let number = std::env::var("PLUMB_TEST_ABORT_AFTER_WRITE").ok();
    match number.and_then(|number| number.parse::<u64>().ok()) {
        None => Arc::new(store),
        Some(last) => Arc::new(ObservedStore::new(store, move |write: &Write| {
            if write.number >= last {
                std::process::abort();
            }
            Answer::Deliver
        })),
    }
}

#[cfg(not(feature = "fault-injection"))]
pub(crate) fn observed(store: DirectoryStore) -> Arc<dyn RecordStore> {
    Arc::new(store)
}
