//! Executions of the state machine.

use async_trait::async_trait;
use aws_sdk_sfn::Client;
use aws_sdk_sfn::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use serde_json::Value;
use std::error::Error as StdError;

/// The state machine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutionError {
    /// The execution no longer waits.
    #[error(
        "the execution does not wait any more: it was answered, its time was up, or it is about to ask anew; look at the run, and where it \
         still waits decide again"
    )]
    NotWaiting,
    /// The service failed or refused.
    #[error("{operation} failed: {problem}")]
    Service {
        /// The request.
        operation: &'static str,
        /// What the service says.
        problem: String,
    },
}

/// Starts executions and answers those that wait.
#[async_trait]
pub trait Executions: Send + Sync {
    /// Starts one under a name. A name that was used before starts nothing, so that a repeated request is harmless.
    ///
    /// # Errors
    /// Where the service fails.
    async fn start(&self, name: &str, input: &Value) -> Result<(), ExecutionError>;

    /// Lets one that waits go on.
    ///
    /// # Errors
    /// Where it does not wait, or the service fails.
    async fn succeed(&self, task_token: &str) -> Result<(), ExecutionError>;

    /// Has one that waits go on with an error, by its name in the definition.
    ///
    /// # Errors
    /// As [`Executions::succeed`].
    async fn fail(&self, task_token: &str, error: &str) -> Result<(), ExecutionError>;
}

/// AWS Step Functions.
#[derive(Clone, Debug)]
pub struct StepFunctions {
    client: Client,
    state_machine: String,
}

impl StepFunctions {
    /// The state machine with this ARN.
    pub fn of(sdk: &aws_config::SdkConfig, state_machine: impl Into<String>) -> StepFunctions {
        StepFunctions { client: Client::new(sdk), state_machine: state_machine.into() }
    }
}

fn failed<E, R>(operation: &'static str, error: SdkError<E, R>) -> ExecutionError
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    match error.code() {
        Some("TaskTimedOut" | "TaskDoesNotExist" | "InvalidToken") => ExecutionError::NotWaiting,
        _ => {
            let problem = DisplayErrorContext(&error).to_string();
            ExecutionError::Service { operation, problem }
        }
    }
}

#[async_trait]
impl Executions for StepFunctions {
    async fn start(&self, name: &str, input: &Value) -> Result<(), ExecutionError> {
        let request = self.client.start_execution().state_machine_arn(&self.state_machine);
        match request.name(name).input(input.to_string()).send().await {
            Err(error) if error.code() == Some("ExecutionAlreadyExists") => Ok(()),
            answer => answer.map(drop).map_err(|error| failed("states:StartExecution", error)),
        }
    }

    async fn succeed(&self, task_token: &str) -> Result<(), ExecutionError> {
        let request = self.client.send_task_success().task_token(task_token).output("{}");
        let answer = request.send().await;
        answer.map(drop).map_err(|error| failed("states:SendTaskSuccess", error))
    }

    async fn fail(&self, task_token: &str, error: &str) -> Result<(), ExecutionError> {
        let request = self.client.send_task_failure().task_token(task_token).error(error);
        let answer = request.send().await;
        answer.map(drop).map_err(|error| failed("states:SendTaskFailure", error))
    }
}
