//! The API: webhooks, runs, approvals, apply. Requests in, executions out; nothing here waits for a run.

mod browser;
mod deciding;
mod drift;
mod error;
mod reading;
mod routes;
mod starting;
mod triggers;

pub use browser::Authentication;
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
use views::page::Sends;

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
    /// How that was proved.
    pub authentication: Authentication,
    /// The address of the API for links; where it is not known, `https` at the host that was asked for.
    pub address: Option<String>,
}

const PAGE: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
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
    /// The headers that such an answer has beside those of all.
    own_headers: Vec<(&'static str, String)>,
}

impl ApiResponse {
    /// Nothing else can be said.
    pub fn failed(why: &str) -> ApiResponse {
        ApiResponse::json(500, &serde_json::json!({ "error": why }))
    }

    pub(crate) fn json(status: u16, body: &serde_json::Value) -> ApiResponse {
        let (content_type, body) = ("application/json", body.to_string());
        ApiResponse { status, content_type, body, own_headers: Vec::new() }
    }

    /// A page. Nobody shows it within another one, where a click would be meant for something else.
    pub(crate) fn page(status: u16, body: Vec<u8>, sends: Sends) -> ApiResponse {
        let policy = format!("{}; frame-ancestors 'none'", sends.content_policy());
        let own_headers = vec![
            ("content-security-policy", policy),
            ("x-frame-options", "DENY".to_owned()),
            ("referrer-policy", sends.referrer_policy().to_owned()),
        ];
        let body = String::from_utf8_lossy(&body).into_owned();
        ApiResponse { status, content_type: PAGE, body, own_headers }
    }

    /// It was done, and a browser goes on to a page.
    pub(crate) fn see_other(address: String) -> ApiResponse {
        let own_headers = vec![("location", address)];
        ApiResponse { status: 303, content_type: TEXT, body: String::new(), own_headers }
    }

    /// The headers that it is sent with.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", self.content_type.to_owned()),
            ("cache-control", "no-store".to_owned()),
            ("x-content-type-options", "nosniff".to_owned()),
        ];
        headers.extend(self.own_headers.iter().cloned());
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
        let route = Route::of(&request.method, &request.path)?;
        // A webhook's signature is over its body: no page can have that sent.
        if request.method != "GET" && !route.is_webhook() {
            request.check_site()?;
        }
        match route {
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
