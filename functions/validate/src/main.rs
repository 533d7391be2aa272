//! A saved plan in, verdicts out. Nothing is changed.

use bootstrap::{Failure, Function, observed};
use lambda_runtime::LambdaEvent;
use runs::run_reference::{Answer, Invocation};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    bootstrap::serve(handle)
}

async fn handle(
    function: Arc<Function>,
    event: LambdaEvent<Invocation>,
) -> Result<Answer, Failure> {
    let run = event.payload.run.clone();
    let step = runs::steps::validate(&function.environment, event.payload);
    observed(&event.context, &run, step).await
}
