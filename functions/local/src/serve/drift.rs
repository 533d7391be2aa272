//! Looking for drift when `plumb.toml` says so.

use super::log::Log;
use engine::clock::Clock;
use runs::api::Api;
use runs::executions::Executions;
use runs::function_environment::FunctionEnvironment;
use runs::schedule::Schedule;
use runs::secrets::Secrets;
use std::sync::Arc;
use std::time::Duration;

/// How long a sleep lasts at most before the clock is read again, which stands still while a laptop is shut.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);

/// Looks for the drift of an estate at every time of its schedule, for as long as anybody waits for it.
pub(crate) async fn look_on_schedule(
    estate: String,
    schedule: Schedule,
    environment: Arc<FunctionEnvironment>,
    executions: Arc<dyn Executions>,
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
    log: Arc<Log>,
) {
    while let Some(next) = schedule.next(clock.now()) {
        loop {
            let left = Duration::try_from(next.duration_since(clock.now())).unwrap_or_default();
            if left.is_zero() {
                break;
            }
            clock.sleep(left.min(LONGEST_SLEEP)).await;
        }
        let look = async {
            let api = Api::open(&environment, &*executions, &*secrets).await?;
            api.look_for_drift(&next.to_string(), Some(&[&estate])).await
        };
        if let Err(error) = look.await {
            log.line(&format!("{estate}: its drift cannot be looked for: {error}"));
        }
    }
}
