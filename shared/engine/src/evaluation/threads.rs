//! Where evaluation runs: on the runtime's threads, one of which is always left to those who wait for providers and
//! keep the lease.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// How many evaluations run at once: more would only share the cores.
static CORES: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, NonZeroUsize::get));

static EVALUATIONS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(*CORES));

/// How many threads a runtime needs so that evaluations run on them: one more than they can take. In one that has fewer,
/// each is handed to a thread of its own, which costs more than most of them take.
pub fn worker_threads() -> usize {
    *CORES + 1
}

/// Runs an evaluation, which may take long, without keeping the runtime from its other work. A runtime that has chosen
/// to have one thread gets no second one: what happens in it has an order.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let runtime = Handle::current();
    if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work();
    }
    if runtime.metrics().num_workers() >= worker_threads() {
        // Never closed; the permit is kept until the end of the work.
        let _permit = EVALUATIONS.acquire().await;
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => match e.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going away, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
