//! What requests there are.

use super::ApiError;

/// Every method and path, as the template and the OpenAPI description have them.
pub const ROUTES: [(&str, &str); 12] = [
    ("POST", "/webhooks/github"),
    ("POST", "/webhooks/gitlab"),
    ("POST", "/runs"),
    ("GET", "/runs"),
    ("GET", "/runs/{run}"),
    ("POST", "/runs/{run}/approve"),
    ("POST", "/runs/{run}/reject"),
    ("POST", "/runs/{run}/cancel"),
    ("POST", "/plans/{plan}/apply"),
    ("GET", "/estates"),
    ("GET", "/estates/{estate}/drift"),
    ("GET", "/drift"),
];

/// A request, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// GitHub tells something.
    GitHubWebhook,
    /// GitLab does.
    GitLabWebhook,
    /// Plan an estate.
    StartRun,
    /// The runs of an estate.
    ListRuns,
    /// One run.
    ShowRun {
        /// Its id.
        run: String,
    },
    /// Agree to a run's plan.
    ApproveRun {
        /// Its id.
        run: String,
    },
    /// Say no to it.
    RejectRun {
        /// Its id.
        run: String,
    },
    /// Stop a run.
    CancelRun {
        /// Its id.
        run: String,
    },
    /// Apply a plan that an earlier run made.
    ApplyPlan {
        /// Its id.
        plan: String,
    },
    /// The estates.
    ListEstates,
    /// What was last found of an estate's drift.
    ShowDrift {
        /// Its name.
        estate: String,
    },
    /// What was last found of every estate's drift.
    ReportDrift,
}

impl Route {
    /// Whether it is for a host of repositories, which proves itself by what it sends.
    pub fn is_webhook(&self) -> bool {
        matches!(self, Route::GitHubWebhook | Route::GitLabWebhook)
    }

    /// The route of a method and path.
    ///
    /// # Errors
    /// Where there is none.
    pub fn of(method: &str, path: &str) -> Result<Route, ApiError> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let owned = |text: &str| decoded(text).ok_or(ApiError::NoRoute);
        Ok(match (method, &parts[..]) {
            ("POST", ["webhooks", "github"]) => Route::GitHubWebhook,
            ("POST", ["webhooks", "gitlab"]) => Route::GitLabWebhook,
            ("POST", ["runs"]) => Route::StartRun,
            ("GET", ["runs"]) => Route::ListRuns,
            ("GET", ["runs", run]) => Route::ShowRun { run: owned(run)? },
            ("POST", ["runs", run, "approve"]) => Route::ApproveRun { run: owned(run)? },
            ("POST", ["runs", run, "reject"]) => Route::RejectRun { run: owned(run)? },
            ("POST", ["runs", run, "cancel"]) => Route::CancelRun { run: owned(run)? },
            ("POST", ["plans", plan, "apply"]) => Route::ApplyPlan { plan: owned(plan)? },
            ("GET", ["estates"]) => Route::ListEstates,
            ("GET", ["estates", estate, "drift"]) => Route::ShowDrift { estate: owned(estate)? },
            ("GET", ["drift"]) => Route::ReportDrift,
            _ => return Err(ApiError::NoRoute),
        })
    }
}

/// A part of a path without its escapes; `None` where there is nothing, or no text.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}
