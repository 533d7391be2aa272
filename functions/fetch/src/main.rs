//! Source at a commit in, a bundle out.

use bootstrap::{Failure, Function, hosts, module_packages, observed};
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
    let step = async {
        let (hosts, _) = hosts(&function).await?;
        let packages = module_packages(&function);
        runs::steps::fetch(&function.environment, &hosts, &packages, event.payload).await
    };
    observed(&event.context, &run, step).await
}
