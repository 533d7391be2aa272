//! Webhooks, runs, approvals and apply: requests in, executions out. A schedule's event asks for drift.

use aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use aws_lambda_events::encodings::Body;
use aws_lambda_events::http::header::{HeaderMap, HeaderValue};
use bootstrap::{Failure, Function};
use lambda_runtime::LambdaEvent;
use runs::api::{Api, ApiError, ApiRequest, ApiResponse};
use runs::executions::StepFunctions;
use runs::secrets::SecretsManager;
use serde_json::Value;
use std::process::ExitCode;
use std::sync::Arc;

mod request;

/// The ARN of the state machine.
const STATE_MACHINE_VARIABLE: &str = "PLUMB_STATE_MACHINE";

fn main() -> ExitCode {
    bootstrap::serve(handle)
}

async fn handle(function: Arc<Function>, event: LambdaEvent<Value>) -> Result<Value, Failure> {
    let (payload, context) = event.into_parts();
    let sdk = function.aws().await;
    let machine = function.environment.variables.get(STATE_MACHINE_VARIABLE);
    let executions = StepFunctions::of(&sdk, machine.cloned().unwrap_or_default());
    let secrets = SecretsManager::of(&sdk);
    let api = Api::open(&function.environment, &executions, &secrets).await;
    if payload["source"] == "aws.events" || payload["source"] == "aws.scheduler" {
        let time = payload["time"].as_str().unwrap_or_default();
        let begun = async { api?.look_for_drift(time, None).await };
        return match begun.await {
            Ok(runs) => {
                tracing::info!(runs = runs.len(), "looking for drift");
                Ok(Value::Null)
            }
            Err(error) => Err(unavailable(&error)),
        };
    }
    let request: ApiGatewayV2httpRequest = match serde_json::from_value(payload) {
        Ok(request) => request,
        Err(error) => {
            tracing::error!("the event is no request of an HTTP API: {error}");
            return Err(Failure::Unavailable);
        }
    };
    let request = request::of(request);
    let answer = async { api?.answer(&request).await };
    let response = answer.await.unwrap_or_else(|error| refused(&error, &request));
    tracing::info!(
        request_id = %context.request_id,
        method = %request.method,
        path = %request.path,
        status = response.status,
        "answered"
    );
    encoded(response)
}

fn refused(error: &ApiError, request: &ApiRequest) -> ApiResponse {
    tracing::warn!("{error}");
    error.response(request)
}

fn unavailable(error: &ApiError) -> Failure {
    tracing::error!("{error}");
    Failure::Unavailable
}

fn encoded(response: ApiResponse) -> Result<Value, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in response.headers() {
        // They are ours, and all are headers' values.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    let mut answer = ApiGatewayV2httpResponse::default();
    answer.status_code = i64::from(response.status);
    answer.headers = headers;
    answer.body = Some(Body::Text(response.body));
    serde_json::to_value(answer).map_err(|error| {
        tracing::error!("an answer has no JSON form: {error}");
        Failure::Unavailable
    })
}
