//! A run's end in, everybody told out.

use bootstrap::{Failure, Function, hosts, observed};
use lambda_runtime::LambdaEvent;
use runs::report::recipients;
use runs::run_reference::{Answer, ReportInvocation};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    bootstrap::serve(handle)
}

async fn handle(
    function: Arc<Function>,
    event: LambdaEvent<ReportInvocation>,
) -> Result<Answer, Failure> {
    let run = event.payload.run.clone();
    let step = async {
        let (hosts, https) = hosts(&function).await?;
        let sdk = function.aws().await;
        let told = async |state| recipients(&hosts, https, &sdk, &state).await;
        let reported =
            runs::steps::report(&function.environment, event.payload, function.api(), told).await?;
        for failure in &reported.failures {
            tracing::warn!("{failure}");
        }
        Ok(reported.answer)
    };
    observed(&event.context, &run, step).await
}
