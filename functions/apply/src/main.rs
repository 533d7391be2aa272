//! A saved plan in, changes out; goes on where this, or another invocation, stopped.

use bootstrap::{Failure, Function, deadline, observed};
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
    let environment = &function.environment;
    let deadline = deadline(&event.context, &*environment.clock);
    let step = runs::steps::apply(environment, event.payload, deadline);
    observed(&event.context, &run, step).await
}
