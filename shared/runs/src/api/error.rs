use super::{ApiRequest, ApiResponse};
use crate::approval::ApprovalError;
use crate::deployment::Action;
use crate::executions::ExecutionError;
use crate::function_environment::FunctionEnvironmentError;
use crate::run_state::RunStateError;
use crate::secrets::SecretError;
use crate::webhook::WebhookError;
use serde_json::json;
use views::page::{RunPage, Sends, write_refusal_page};

/// A request is refused, or cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// There is no such path.
    #[error("there is nothing at this path")]
    NoRoute,
    /// Nobody was authorised.
    #[error(
        "nobody is known to ask; sign the request, or send a token (plumb takes it from PLUMB_TOKEN)"
    )]
    Nobody,
    /// A browser sends it, and not from a page of this API.
    #[error(
        "the request does not come from a page of this deployment, so that another site could have your browser send it; open \
         the run's page and decide there. A proxy in front has to hand on Sec-Fetch-Site and Origin as they are; programs send \
         application/json, and their token or signature with it"
    )]
    ForeignPage,
    /// Who asks may not.
    #[error(
        "you may not {action} the estate {estate}, or there is none of that name; deployment.toml says who may do what"
    )]
    Forbidden {
        /// What.
        action: Action,
        /// To which estate.
        estate: String,
    },
    /// The body or the query says something else.
    #[error("the request is not understood: {0}")]
    Body(String),
    /// No estate is named.
    #[error("the query names no estate; add ?estate=NAME")]
    NoEstate,
    /// The run made another plan, or none.
    #[error(
        "the run {run} made no plan {plan} with that digest; GET /runs/{run} shows what it made"
    )]
    NoPlan {
        /// The run.
        run: String,
        /// The plan.
        plan: String,
    },
    /// A run that changes things is not stopped half way.
    #[error("the run {run} is changing things, and is not stopped half way; it ends by itself")]
    Applying {
        /// The run.
        run: String,
    },
    /// A delivery is refused.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// An approval is refused.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// The state of a run cannot be read or changed.
    #[error(transparent)]
    State(#[from] RunStateError),
    /// The state machine did not do what it was asked.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A secret cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The function cannot begin.
    #[error(transparent)]
    Environment(Box<FunctionEnvironmentError>),
}

impl From<FunctionEnvironmentError> for ApiError {
    fn from(error: FunctionEnvironmentError) -> ApiError {
        ApiError::Environment(Box::new(error))
    }
}

impl ApiError {
    /// The status that says it.
    pub fn status(&self) -> u16 {
        match self {
            ApiError::NoRoute => 404,
            ApiError::Nobody | ApiError::Webhook(WebhookError::Unauthentic(_)) => 401,
            ApiError::ForeignPage
            | ApiError::Forbidden { .. }
            | ApiError::Webhook(WebhookError::Unknown) => 403,
            ApiError::Approval(
                ApprovalError::OwnChange { .. } | ApprovalError::UnmappedApprover { .. },
            ) => 403,
            ApiError::Body(_)
            | ApiError::NoEstate
            | ApiError::Webhook(WebhookError::Malformed(_)) => 400,
            ApiError::State(RunStateError::Absent { .. }) => 404,
            ApiError::NoPlan { .. } | ApiError::Applying { .. } => 409,
            ApiError::State(RunStateError::Ended { .. }) => 409,
            ApiError::Execution(ExecutionError::NotWaiting) => 409,
            ApiError::Approval(
                ApprovalError::NotWaiting { .. }
                | ApprovalError::OtherPlan { .. }
                | ApprovalError::Decided(_),
            ) => 409,
            ApiError::Approval(_)
            | ApiError::State(_)
            | ApiError::Execution(_)
            | ApiError::Secret(_)
            | ApiError::Environment(_) => 503,
        }
    }

    /// As whoever sent the request gets it: a page in a browser, else JSON. What is wrong inside is for the log, not for them.
    pub fn response(&self, request: &ApiRequest) -> ApiResponse {
        let status = self.status();
        let message = match status {
            503 => "the deployment cannot answer now; its log says why".to_owned(),
            _ => self.to_string(),
        };
        if !request.is_from_browser() {
            return ApiResponse::json(status, &json!({"error": message}));
        }
        let back = request.run_page();
        let back = back.as_ref().map(|(estate, run)| RunPage { estate, run });
        let mut page = Vec::new();
        // Writing to memory does not fail.
        let _ = write_refusal_page(&message, back, &mut page);
        ApiResponse::page(status, page, Sends::Nothing)
    }
}
