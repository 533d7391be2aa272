//! Where evaluation runs: not on the runtime's own threads, which providers are waited for on.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs an evaluation off the runtime's threads, since an expression may take long. A runtime that has chosen to have
/// one thread gets no second one: what happens in it has an order.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
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
