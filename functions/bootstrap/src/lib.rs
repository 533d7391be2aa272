//! How every function starts and ends an invocation. The only place of the functions that reads the process's environment.

mod answering;
mod function;
mod hosts;
mod metrics;

pub use answering::{Failure, deadline, observed};
pub use function::Function;
pub use hosts::{hosts, module_packages};

use futures::FutureExt;
use lambda_runtime::{LambdaEvent, service_fn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The hidden argument with which a function watches over the providers that it starts.
const WATCHDOG: &str = "__watchdog";

/// What providers write themselves, which may be anything that they were given. An error of theirs has the end of it.
const PROVIDERS_OWN: &str = "provider";

/// Logs to standard output, a line of JSON for each event.
fn log() {
    let lines = tracing_subscriber::fmt::layer().json().flatten_event(true).with_current_span(true);
    let told = filter_fn(|event| event.target() != PROVIDERS_OWN && *event.level() <= Level::INFO);
    let told = told.with_max_level_hint(LevelFilter::INFO);
    tracing_subscriber::registry().with(lines.with_filter(told)).init();
}

/// Serves invocations until the process is ended, one after the other.
pub fn serve<P, A, H, F>(handle: H) -> ExitCode
where
    P: DeserializeOwned,
    A: Serialize,
    H: Fn(Arc<Function>, LambdaEvent<P>) -> F,
    F: Future<Output = Result<A, Failure>>,
{
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == WATCHDOG
    {
        let watched = providers::plugin::watchdog::run(rest.to_vec(), std::io::stdin().lock());
        return if watched.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    log();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(engine::worker_threads())
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("the function cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let function = Arc::new(Function::from_process());
    let invoked = service_fn(|event: LambdaEvent<P>| {
        // A panic's text stays in the log, and out of the execution's history.
        let answer = AssertUnwindSafe(handle(function.clone(), event)).catch_unwind();
        async { answer.await.unwrap_or(Err(Failure::Panicked)) }
    });
    match runtime.block_on(lambda_runtime::run(invoked)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("the function stops: {error}");
            ExitCode::FAILURE
        }
    }
}
