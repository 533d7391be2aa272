//! The API: webhooks, runs, approvals, apply. Requests in, executions out; nothing here waits for a run.

mod deciding;
mod drift;
mod error;
mod reading;
mod routes;
mod starting;
mod triggers;

pub use error::ApiError;
pub use routes::{ROUTES, Route};

use crate::deployment::{Action, Deployment};
use crate::executions::Executions;
use crate::function_environment::FunctionEnvironment;
use crate::run_reference::EstateReference;
use crate::run_state::RunStates;
use crate::secrets::Secrets;
use bytes::Bytes;
use engine::identifiers::Principal;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// A request as API Gateway authorised it.
#[derive(Clone, Debug, Default)]
pub struct ApiRequest {
    /// `GET`, `POST`.
    pub method: String,
    /// The path, without the stage.
    pub path: String,
    /// The query.
    pub query: BTreeMap<String, String>,
    /// Headers; names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, byte for byte.
    pub body: Bytes,
    /// Who asks, where the authoriser says so; nobody for webhooks.
    pub principal: Option<Principal>,
    /// The address of the API for links; where it is not known, that which the request was sent to.
    pub address: Option<String>,
}

const PAGE: &str = "text/html; charset=utf-8";
/// Bytes of a page: a function answers with 6 MB at most.
const PAGE_ROOM: usize = 4 << 20;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResponse {
    /// The status.
    pub status: u16,
    /// What the body is.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

impl ApiResponse {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> ApiResponse {
        ApiResponse { status, content_type: "application/json", body: body.to_string() }
    }

    /// A page.
    pub(crate) fn page(body: Vec<u8>) -> ApiResponse {
        let body = String::from_utf8_lossy(&body).into_owned();
        ApiResponse { status: 200, content_type: PAGE, body }
    }

    /// The headers that it is sent with.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", self.content_type.to_owned()),
            ("cache-control", "no-store".to_owned()),
            ("x-content-type-options", "nosniff".to_owned()),
        ];
        if self.content_type == PAGE {
            let policy = format!("{}; frame-ancestors 'none'", views::page::policy());
            headers.push(("content-security-policy", policy));
            headers.push(("referrer-policy", "no-referrer".to_owned()));
        }
        headers
    }
}

/// What answers requests.
pub struct Api<'a> {
    environment: &'a FunctionEnvironment,
    executions: &'a dyn Executions,
    secrets: &'a dyn Secrets,
    deployment: Deployment,
    states: RunStates,
}

impl<'a> Api<'a> {
    /// With the deployment's settings as they are now.
    ///
    /// # Errors
    /// Where the settings or the store of runs cannot be used.
    pub async fn open(
        environment: &'a FunctionEnvironment,
        executions: &'a dyn Executions,
        secrets: &'a dyn Secrets,
    ) -> Result<Api<'a>, ApiError> {
        let deployment = environment.deployment().await?;
        let states = environment.run_states().await?;
        Ok(Api { environment, executions, secrets, deployment, states })
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Where it is refused or cannot be answered; [`ApiError::response`] is what whoever asked gets.
    pub async fn answer(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        match Route::of(&request.method, &request.path)? {
            Route::GitHubWebhook => self.github(request).await,
            Route::GitLabWebhook => self.gitlab(request).await,
            Route::StartRun => self.start_run(request).await,
            Route::ListRuns => self.list_runs(request).await,
            Route::ShowRun { run } => self.show_run(request, &run).await,
            Route::ApproveRun { run } => self.approve(request, &run).await,
            Route::RejectRun { run } => self.decline(request, &run).await,
            Route::CancelRun { run } => self.cancel(request, &run).await,
            Route::ApplyPlan { plan } => self.apply_plan(request, &plan).await,
            Route::ListEstates => self.list_estates(request),
            Route::ShowDrift { estate } => self.show_drift(request, &estate).await,
            Route::ReportDrift => self.report_drift(request).await,
        }
    }

    /// Who asks, if it may do this to the estate. An estate that is not there and one that it may not see are answered alike.
    fn permitted<'r>(
        &self,
        request: &'r ApiRequest,
        action: Action,
        estate: &EstateReference,
    ) -> Result<&'r Principal, ApiError> {
        let principal = request.principal.as_ref().ok_or(ApiError::Nobody)?;
        let known = self.deployment.estates.contains_key(estate.0.as_str());
        match known && self.deployment.permits(principal, action, &estate.0) {
            true => Ok(principal),
            false => Err(ApiError::Forbidden { action, estate: estate.0.to_string() }),
        }
    }
}

impl ApiRequest {
    /// Whether a browser asks, which is shown a page.
    fn wants_page(&self) -> bool {
        let accepted = self.headers.get("accept").map(String::as_str).unwrap_or_default();
        accepted.split(',').any(|kind| kind.trim().starts_with("text/html"))
    }

    /// The address of the API, for links.
    fn address(&self) -> Option<String> {
        if self.address.is_some() {
            return self.address.clone();
        }
        let host = self.headers.get("host")?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        host.bytes().all(plain).then(|| format!("https://{host}"))
    }

    fn parsed<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.body).map_err(|error| ApiError::Body(error.to_string()))
    }

    /// The estate that the query names.
    fn estate(&self) -> Result<EstateReference, ApiError> {
        let name = self.query.get("estate").ok_or(ApiError::NoEstate)?;
        EstateReference::try_from(name.clone()).map_err(|error| ApiError::Body(error.to_string()))
    }
}
