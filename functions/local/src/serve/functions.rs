//! What the definition calls: the steps, in this process.

use super::log::Log;
use super::slots::{Slot, Slots};
use async_trait::async_trait;
use aws_config::SdkConfig;
use engine::Deadline;
use engine::clock::Clock;
use jiff::SignedDuration;
use providers::https::{Https, HttpsClient};
use runs::function_environment::FunctionEnvironment;
use runs::local_deployment::{CloneArchives, SecretFiles};
use runs::report::recipients;
use runs::repository_host::RepositoryHosts;
use runs::run_reference::{Answer, Invocation, Outcome, ReportInvocation};
use runs::state_machine::{Resources, TaskError, TaskRequest};
use runs::steps::{self, StepError};
use runs::stores::StoreSurroundings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// How long a host may take for one answer: archives take a while.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long an invocation of apply may take: as long as in Lambda.
const APPLY: SignedDuration = SignedDuration::from_secs(15 * 60);

/// Bytes of the stack of a thread that does a step: as many as that of a function's process.
const STACK: usize = 8 << 20;

/// The functions of a stack.
pub(crate) struct LocalFunctions {
    pub(crate) slots: Arc<Slots>,
    pub(crate) log: Arc<Log>,
    pub(crate) steps: Arc<Steps>,
}

/// What steps need.
pub(crate) struct Steps {
    pub(crate) secrets: SecretFiles,
    /// The way to repository hosts and to whoever is told.
    pub(crate) https: Arc<dyn Https>,
    pub(crate) surroundings: Arc<dyn StoreSurroundings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Arc<Log>,
    /// The address of this server.
    pub(crate) api: String,
    /// The root modules of estates in this clone.
    pub(crate) directories: BTreeMap<String, PathBuf>,
}

#[async_trait]
impl Resources for LocalFunctions {
    async fn perform(&self, request: TaskRequest, time: Duration) -> Result<Value, TaskError> {
        match request {
            TaskRequest::Announce { entries } => {
                for entry in entries.as_array().into_iter().flatten() {
                    self.ended(&entry["Detail"]);
                }
                Ok(json!({}))
            }
            TaskRequest::Invoke { function, payload } => {
                let (estate, run) = named(&payload);
                let slot = self.slots.take().await.ok_or_else(TaskError::not_begun)?;
                self.log.of_run(&estate, &run, word(&function));
                let answer =
                    tokio::time::timeout(time, self.invoked(slot, function, payload)).await;
                match answer.map_err(|_| TaskError::late())?? {
                    Ok(Some(answer)) => Ok(serde_json::to_value(answer).unwrap_or_default()),
                    Ok(None) => Err(TaskError("Lambda.ResourceNotFoundException".to_owned())),
                    Err(error @ StepError::Cancelled { .. }) => {
                        self.log.of_run(&estate, &run, &error.to_string());
                        Err(TaskError("Cancelled".to_owned()))
                    }
                    Err(error) => {
                        self.log.of_run(&estate, &run, &format!("to be repeated: {error}"));
                        Err(TaskError("Unavailable".to_owned()))
                    }
                }
            }
        }
    }

    /// Apply hands over, and who is told is not told half. The rest changes nothing.
    fn may_be_left(&self, request: &TaskRequest) -> bool {
        let stays = ["ApplyFunction", "ReportFunction"];
        !matches!(request, TaskRequest::Invoke { function, .. } if stays.contains(&function.as_str()))
    }
}

impl LocalFunctions {
    /// Does a step in a thread of its own, as a function has a process; it ends with whoever waits for it.
    async fn invoked(
        &self,
        slot: Slot,
        function: String,
        payload: Value,
    ) -> Result<Result<Option<Answer>, StepError>, TaskError> {
        let (steps, runtime) = (self.steps.clone(), Handle::current());
        let (done, answer) = oneshot::channel();
        let (_waiting, nobody_waits) = oneshot::channel::<()>();
        let work = move || {
            let answer = runtime.block_on(async {
                tokio::select! {
                    answer = steps.invoke(&slot.environment, &function, payload) => Some(answer),
                    _ = nobody_waits => None,
                }
            });
            drop(slot);
            if let Some(answer) = answer {
                let _ = done.send(answer);
            }
        };
        let thread = std::thread::Builder::new().name("step".to_owned()).stack_size(STACK);
        thread.spawn(work).map_err(|_| TaskError("Lambda.ServiceException".to_owned()))?;
        answer.await.map_err(|_| TaskError::panicked())
    }

    /// The event of a run's end.
    fn ended(&self, detail: &Value) {
        let text = |name: &str| detail[name].as_str().unwrap_or_default();
        let code = match text("code") {
            "" => String::new(),
            code => format!(" ({code})"),
        };
        let outcome = format!("ended: {}{code}", text("outcome"));
        self.log.of_run(text("estate"), text("run"), &outcome);
    }
}

impl Steps {
    async fn invoke(
        &self,
        environment: &FunctionEnvironment,
        function: &str,
        payload: Value,
    ) -> Result<Option<Answer>, StepError> {
        let answer = match function {
            "FetchFunction" => self.fetch(environment, understood(payload)?).await,
            "PlanFunction" => steps::plan(environment, understood(payload)?).await,
            "ValidateFunction" => steps::validate(environment, understood(payload)?).await,
            "ApplyFunction" => {
                let now = self.clock.now();
                let deadline = Deadline::at(now.saturating_add(APPLY).unwrap_or(now));
                steps::apply(environment, understood(payload)?, deadline).await
            }
            "ReportFunction" => self.report(environment, understood(payload)?).await,
            _ => return Ok(None),
        };
        answer.map(Some)
    }

    async fn hosts(&self, environment: &FunctionEnvironment) -> Result<RepositoryHosts, StepError> {
        Ok(RepositoryHosts {
            deployment: environment.deployment().await?,
            secrets: Arc::new(self.secrets.clone()),
            https: self.https.clone(),
        })
    }

    async fn fetch(
        &self,
        environment: &FunctionEnvironment,
        invocation: Invocation,
    ) -> Result<Answer, StepError> {
        let hosts = self.hosts(environment).await?;
        let archives = CloneArchives {
            deployment: &hosts.deployment,
            environment: environment.inherited.clone(),
            hosts: &hosts,
        };
        // Whoever may push chooses the addresses of modules: nothing that listens here is reached by them.
        let client = HttpsClient::new(PATIENCE).https_only();
        let packages = environment.module_packages(Arc::new(client));
        steps::fetch(environment, &archives, &packages, invocation).await
    }

    async fn report(
        &self,
        environment: &FunctionEnvironment,
        invocation: ReportInvocation,
    ) -> Result<Answer, StepError> {
        let (run, estate) = (invocation.run.run.to_string(), invocation.run.estate.0.to_string());
        let waits = invocation.outcome == Outcome::Waiting;
        let hosts = self.hosts(environment).await?;
        // A cloud is looked for only where somebody is told through it.
        let sdk = match hosts.deployment.notifications.sns_topic {
            Some(_) => self.surroundings.aws(None).await,
            None => SdkConfig::builder().build(),
        };
        let told = async |state| recipients(&hosts, self.https.clone(), &sdk, &state).await;
        let reported = steps::report(environment, invocation, Some(&self.api), told).await?;
        for failure in &reported.failures {
            self.log.of_run(&estate, &run, &failure.to_string());
        }
        if waits {
            let directory = self.directories.get(&estate).map(|path| path.display());
            let place = directory.map(|path| format!(" -chdir={path}")).unwrap_or_default();
            let how = format!(
                "waits for approval: plumb{place} -estate={estate} approve -remote={} {run}",
                self.api
            );
            self.log.of_run(&estate, &run, &how);
        }
        Ok(reported.answer)
    }
}

/// The estate and the run of a payload.
fn named(payload: &Value) -> (String, String) {
    let text = |name: &str| payload["run"][name].as_str().unwrap_or_default().to_owned();
    (text("estate"), text("run"))
}

/// What a function does.
fn word(function: &str) -> &str {
    match function {
        "FetchFunction" => "fetch",
        "PlanFunction" => "plan",
        "ValidateFunction" => "validate",
        "ApplyFunction" => "apply",
        "ReportFunction" => "report",
        other => other,
    }
}

fn understood<T: DeserializeOwned>(payload: Value) -> Result<T, StepError> {
    serde_json::from_value(payload).map_err(|_| StepError::MissingReference { what: "run" })
}
