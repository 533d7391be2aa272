//! The API, on a directory: who may ask for what, and what comes of it.

mod browsers;
mod description;
mod people;
mod webhooks;

use crate::surroundings::{Counter, Nowhere, SetClock};
use async_trait::async_trait;
use bytes::Bytes;
use engine::identifiers::{PlanId, Principal, RunId};
use engine::record::key::EstateName;
use providers::SchemaCache;
use providers::plugin::watchdog::WatchdogCommand;
use records::{Key, PutMode};
use runs::api::{Api, ApiRequest, ApiResponse};
use runs::artifact::{ArtifactReference, put_by_digest};
use runs::deployment_stores::DeploymentStores;
use runs::executions::{ExecutionError, Executions};
use runs::function_environment::FunctionEnvironment;
use runs::local_deployment::Handover;
use runs::run_reference::{EstateReference, PlanReference};
use runs::run_state::{RunState, Status};
use runs::secrets::{Secret, SecretError, Secrets};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use views::run_report::{Counts, PlanReport, StepReport};

const SECRET: &str = "it's a secret";
const DIGEST: &str = "5eb63bbbe01eeda093cb22bb8f5acdc3";
const ADA: &str = "arn:aws:iam::111122223333:user/ada";
const GRACE: &str = "arn:aws:iam::111122223333:user/grace";
const READER: &str = "arn:aws:iam::111122223333:user/reader";
const DEPLOYMENT: &str = r#"
[repositories."github.com/acme/infra"]
webhook_secret = "github"
[repositories."gitlab.com/acme/platform/infra"]
webhook_secret = "gitlab"
[repositories."github.com/acme/open"]
webhook_secret = "none"

[estates.network]
repository = "github.com/acme/infra"
paths = ["network"]
[estates.service]
repository = "github.com/acme/infra"
paths = ["service"]
[estates.platform]
repository = "gitlab.com/acme/platform/infra"

[principals."arn:aws:iam::111122223333:user/ada"]
estates = ["network"]
actions = ["read", "plan", "approve", "apply", "cancel"]
git_logins = ["ada"]
[principals."arn:aws:iam::111122223333:user/grace"]
estates = ["*"]
actions = ["read", "approve", "apply"]
git_logins = ["grace"]
[principals."arn:aws:iam::111122223333:user/reader"]
estates = ["network"]
actions = ["read"]
"#;

/// Notes what the state machine is asked.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

#[async_trait]
impl Executions for Asked {
    async fn start(&self, name: &str, input: &Value) -> Result<(), ExecutionError> {
        assert!(input.to_string().len() < 8_192);
        assert_eq!(input["run"]["run"], name);
        self.0.lock().unwrap().push(format!("start {name}"));
        Ok(())
    }
    async fn succeed(&self, task_token: &str) -> Result<(), ExecutionError> {
        self.0.lock().unwrap().push(format!("succeed {task_token}"));
        Ok(())
    }
    async fn fail(&self, task_token: &str, error: &str) -> Result<(), ExecutionError> {
        self.0.lock().unwrap().push(format!("fail {task_token} {error}"));
        Ok(())
    }
}

struct Vault;

#[async_trait]
impl Secrets for Vault {
    async fn read(&self, name: &str) -> Result<Secret, SecretError> {
        match name {
            "github" | "gitlab" => Ok(Secret::new(SECRET)),
            "none" => Ok(Secret::new("")),
            name => Err(SecretError { name: name.to_owned(), problem: "is not there".to_owned() }),
        }
    }
}

struct Scene {
    _folder: tempfile::TempDir,
    environment: FunctionEnvironment,
    clock: Arc<SetClock>,
    asked: Asked,
}

async fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store").display().to_string();
    let clock = Arc::new(SetClock::at(1_000_000));
    let environment = FunctionEnvironment {
        variables: [("PLUMB__STORE__DIR__PATH".to_owned(), store)].into_iter().collect(),
        inherited: Vec::new(),
        watchdog: WatchdogCommand { program: PathBuf::from("none"), args: Vec::new() },
        scratch: folder.path().join("scratch"),
        package_room: 0,
        surroundings: Arc::new(Nowhere),
        clock: clock.clone(),
        random: Arc::new(Counter::default()),
        schemas: Arc::new(SchemaCache::default()),
        local: None,
        handover: Handover::default(),
    };
    let project = environment.project().unwrap();
    let stores =
        DeploymentStores { project: &project, root: folder.path(), surroundings: &Nowhere };
    let settings = stores.settings().await.unwrap();
    let key = Key::new("deployment.toml").unwrap();
    settings.put(&key, DEPLOYMENT.into(), PutMode::Overwrite).await.unwrap();
    Scene { _folder: folder, environment, clock, asked: Asked::default() }
}

impl Scene {
    async fn answer(&self, request: &ApiRequest) -> ApiResponse {
        let api = Api::open(&self.environment, &self.asked, &Vault).await.unwrap();
        match api.answer(request).await {
            Ok(response) => response,
            Err(error) => error.response(request),
        }
    }

    async fn post(&self, who: &str, path: &str, body: Value) -> ApiResponse {
        let request = ApiRequest {
            method: "POST".into(),
            path: path.into(),
            body: Bytes::from(body.to_string()),
            principal: Some(Principal::from_stored(who)),
            ..ApiRequest::default()
        };
        self.answer(&request).await
    }

    async fn get(&self, who: Option<&str>, path: &str, estate: Option<&str>) -> ApiResponse {
        let query = estate.map(|estate| ("estate".to_owned(), estate.to_owned()));
        let request = ApiRequest {
            method: "GET".into(),
            path: path.into(),
            query: query.into_iter().collect(),
            principal: who.map(Principal::from_stored),
            ..ApiRequest::default()
        };
        self.answer(&request).await
    }

    /// As a browser asks.
    async fn page(&self, who: &str, path: &str, estate: Option<&str>) -> ApiResponse {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let query = estate.map(|estate| ("estate".to_owned(), estate.to_owned()));
        let request = ApiRequest {
            method: "GET".into(),
            path: path.into(),
            query: query.into_iter().collect(),
            headers: [header("accept", "text/html,*/*;q=0.8"), header("host", "api.example")]
                .into(),
            principal: Some(Principal::from_stored(who)),
            ..ApiRequest::default()
        };
        self.answer(&request).await
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.0.lock().unwrap())
    }

    async fn state(&self, run: &str, estate: &str) -> RunState {
        let states = self.environment.run_states().await.unwrap();
        states.read(&reference(estate), &RunId::from_stored(run)).await.unwrap()
    }

    /// As the function `report` leaves a run that waits.
    async fn wait(&self, run: &str, estate: &str) {
        let states = self.environment.run_states().await.unwrap();
        let wait = |state: &mut RunState| {
            state.status = Status::WaitingForApproval;
            state.task_token = Some(format!("token-of-{run}"));
            state.plan = Some(PlanReference {
                id: PlanId::from_stored("p1"),
                plan_digest: DIGEST.into(),
                artifact: ArtifactReference { key: "network/plans/p1".into(), digest: "0".into() },
            });
        };
        states.change(&reference(estate), &RunId::from_stored(run), wait).await.unwrap();
    }

    /// As `plan` leaves what is told of the plan that it made.
    async fn tell(&self, run: &str, estate: &str, plan: &str) {
        let counts = Counts { create: 4, destroy: 1, ..Counts::default() };
        let plan = PlanReport { id: Some(plan.to_owned()), counts, ..PlanReport::default() };
        let part = StepReport { plan: Some(plan), ..StepReport::new() };
        let part = serde_json::to_vec(&part).unwrap();
        let estate = reference(estate);
        let stores = self.environment.stores(&estate.0).await.unwrap();
        let part = put_by_digest(&*stores.artifacts, "notes", part.into()).await.unwrap();
        let states = self.environment.run_states().await.unwrap();
        let tell = |state: &mut RunState| state.parts = vec![part.clone()];
        states.change(&estate, &RunId::from_stored(run), tell).await.unwrap();
    }
}

fn reference(estate: &str) -> EstateReference {
    EstateReference(EstateName::new(estate).unwrap())
}

fn body(response: &ApiResponse) -> Value {
    serde_json::from_str(&response.body).unwrap_or_else(|_| json!(response.body))
}
