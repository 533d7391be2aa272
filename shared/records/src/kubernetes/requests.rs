//! Single requests about Secrets, and what their answers mean.

use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{DeleteParams, ListParams, ObjectList, PostParams, Preconditions};
use kube::client::AuthError;
use kube::core::Status;
use kube::{Api, Error};
use thiserror::Error as ThisError;

use super::access::{Asked, review};
use super::version::SecretVersion;
use super::{Cluster, Place, Refusal};
use crate::StoreError;

pub(super) type Cause = Box<dyn StdError + Send + Sync>;

/// How often a request is sent before its failure is told.
pub(super) const ATTEMPTS: u32 = 4;
/// The longest pause that a server may ask for between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The API server answered with a status.
    Status(Box<Status>),
    /// The request was never sent, for want of credentials.
    Credentials(String),
    /// Nothing that could be understood came back: what was asked may have been done.
    NoAnswer(Cause),
}

/// What became of a write.
#[derive(Debug)]
pub(super) enum WriteFailure {
    /// The condition of the write did not hold, now or when an earlier attempt had been carried out.
    Lost,
    /// The server was too busy to look at it.
    Throttled(Duration),
    /// It may have been done or not.
    Doubt(Cause),
    /// It was refused, and not done.
    Refused(StoreError),
}

/// What became of a page.
#[derive(Debug)]
pub(super) enum PageFailure {
    /// The listing is too old to go on with.
    Gone,
    /// It failed.
    Store(StoreError),
}

#[derive(Debug, ThisError)]
#[error("no answer came within {} seconds", .0.as_secs_f32())]
struct TimedOut(Duration);

/// Awaits one answer within a time.
pub(super) async fn answer<T>(
    time_out: Duration,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, Failure> {
    match tokio::time::timeout(time_out, request).await {
        Err(_) => Err(Failure::NoAnswer(TimedOut(time_out).into())),
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(Error::Api(status))) => Err(Failure::Status(status)),
        Ok(Err(Error::Auth(error))) => Err(Failure::Credentials(without_output(&error))),
        Ok(Err(Error::Service(cause))) => match cause.downcast_ref::<AuthError>() {
            Some(error) => Err(Failure::Credentials(without_output(error))),
            None => Err(Failure::NoAnswer(cause)),
        },
        Ok(Err(error)) => Err(Failure::NoAnswer(error.into())),
    }
}

/// A credential command's output, and its arguments, may hold credentials; how it ended is enough.
pub(super) fn without_output(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential command ended with {}", out.status)
        }
        AuthError::AuthExecStart(cause) => {
            format!("the credential command could not be started: {cause}")
        }
        AuthError::AuthExecParse(_) => "the credential command's answer is no JSON".to_owned(),
        other => other.to_string(),
    }
}

/// The requests of one store.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    pub(super) cluster: Cluster,
    pub(super) place: Arc<Place>,
    pub(super) time_out: Duration,
}

impl Requests {
    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.cluster.client.clone(), &self.place.namespace)
    }

    /// Reads one Secret.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Secret>, StoreError> {
        let secrets = self.secrets();
        match self.read(|| secrets.get(name)).await {
            Ok(secret) => Ok(Some(secret)),
            Err(Failure::Status(status)) if is_absent(&status, name) => Ok(None),
            Err(failure) => Err(self.explain("get", failure).await),
        }
    }

    /// Reads one page of the namespace's Secrets: the newest state where no token goes on with an older one.
    pub(super) async fn page(
        &self,
        limit: u32,
        token: Option<&str>,
    ) -> Result<ObjectList<Secret>, PageFailure> {
        let mut params = ListParams::default().limit(limit);
        params.continue_token = token.map(str::to_owned);
        let secrets = self.secrets();
        match self.read(|| secrets.list(&params)).await {
            Ok(page) => Ok(page),
            Err(Failure::Status(status)) if status.code == 410 => Err(PageFailure::Gone),
            Err(failure) => Err(PageFailure::Store(self.explain("list", failure).await)),
        }
    }

    /// Reads the namespace itself.
    pub(super) async fn namespace(&self) -> Result<Namespace, Failure> {
        let namespaces: Api<Namespace> = Api::all(self.cluster.client.clone());
        self.read(|| namespaces.get(&self.place.namespace)).await
    }

    /// Sends a read again while nobody has answered it.
    async fn read<T, F>(&self, request: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut attempt = 1;
        loop {
            let failure = match answer(self.time_out, request()).await {
                Err(failure) if attempt < ATTEMPTS => failure,
                answered => return answered,
            };
            let pause = match &failure {
                Failure::NoAnswer(_) => back_off(attempt),
                Failure::Status(status) if is_passing(status) => pause(status, attempt),
                Failure::Status(_) | Failure::Credentials(_) => return Err(failure),
            };
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Creates a Secret; it is lost where the name is taken.
    pub(super) async fn create(&self, secret: &Secret) -> Result<Secret, WriteFailure> {
        let secrets = self.secrets();
        let created = answer(self.time_out, secrets.create(&PostParams::default(), secret)).await;
        match created {
            Ok(secret) => Ok(secret),
            Err(failure) => Err(self.write_failure("create", failure, false).await),
        }
    }

    /// Replaces a Secret at the version that it names.
    pub(super) async fn replace(
        &self,
        name: &str,
        secret: &Secret,
    ) -> Result<Secret, WriteFailure> {
        let secrets = self.secrets();
        let params = PostParams::default();
        let replacing = secrets.replace(name, &params, secret);
        match answer(self.time_out, replacing).await {
            Ok(secret) => Ok(secret),
            Err(failure) => Err(self.write_failure("update", failure, true).await),
        }
    }

    /// Deletes a Secret at a version; answers what is left of it where it has finalizers.
    pub(super) async fn delete(
        &self,
        name: &str,
        version: &SecretVersion,
    ) -> Result<Option<Secret>, WriteFailure> {
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                resource_version: Some(version.resource_version.clone()),
                uid: Some(version.uid.clone()),
            }),
            ..Default::default()
        };
        match answer(self.time_out, self.secrets().delete(name, &params)).await {
            Ok(left) => Ok(left.left()),
            Err(failure) => Err(self.write_failure("delete", failure, true).await),
        }
    }

    /// Deletes a part, which has no versions: its name says what is in it. What is not there is deleted.
    pub(super) async fn delete_part(&self, name: &str) -> Result<(), StoreError> {
        let secrets = self.secrets();
        let params = DeleteParams::default();
        match self.read(|| secrets.delete(name, &params)).await {
            Ok(_) => Ok(()),
            Err(Failure::Status(status)) if is_absent(&status, name) => Ok(()),
            Err(failure) => Err(self.explain("delete", failure).await),
        }
    }

    async fn write_failure(
        &self,
        verb: &'static str,
        failure: Failure,
        absence_is_loss: bool,
    ) -> WriteFailure {
        match failure {
            Failure::NoAnswer(cause) => WriteFailure::Doubt(cause),
            Failure::Status(status) if status.code == 409 => WriteFailure::Lost,
            Failure::Status(status) if absence_is_loss && is_of_kind(&status, "secrets") => {
                WriteFailure::Lost
            }
            Failure::Status(status) if status.code == 429 => {
                WriteFailure::Throttled(pause(&status, 1))
            }
            Failure::Status(status) if status.code >= 500 => WriteFailure::Doubt(status),
            failure => WriteFailure::Refused(self.explain(verb, failure).await),
        }
    }

    /// What a failure means, which for a denial takes a question to the authorizer: the API server answers
    /// 403 for a Role that is missing and for an admission that says no.
    pub(super) async fn explain(&self, verb: &'static str, failure: Failure) -> StoreError {
        let place = self.place.clone();
        let status = match failure {
            Failure::Credentials(answer) => return self.unauthenticated(answer).into(),
            Failure::NoAnswer(source) => return self.service(verb, source),
            Failure::Status(status) => status,
        };
        let causes = status.details.as_ref().map(|details| details.causes.as_slice());
        let causes = causes.unwrap_or_default();
        match status.code {
            401 => self.unauthenticated(status.message.clone()).into(),
            403 if causes.iter().any(|cause| cause.reason == "NamespaceTerminating") => {
                Refusal::NamespaceTerminating { place }.into()
            }
            403 => {
                let asked = Asked {
                    verb,
                    group: "",
                    resource: "secrets",
                    name: "",
                    namespace: &place.namespace,
                };
                match review(&self.cluster, asked, self.time_out).await {
                    Ok(review) if review.allowed => {
                        Refusal::AdmissionDenied { verb, answer: status.message.clone(), place }
                            .into()
                    }
                    Ok(review) => {
                        let (resource, reason) = ("secrets", review.reason);
                        Refusal::NotAuthorized { verb, resource, reason, place }.into()
                    }
                    // Without an answer nobody can say which of the two it was.
                    Err(_) => self.service(verb, status),
                }
            }
            404 if is_of_kind(&status, "namespaces") => self.missing(),
            // A field that is wrong is our mistake; without one an admission policy has spoken.
            422 if causes.iter().all(|cause| cause.field.is_empty()) => {
                Refusal::AdmissionDenied { verb, answer: status.message.clone(), place }.into()
            }
            _ => self.service(verb, status),
        }
    }

    pub(super) fn missing(&self) -> StoreError {
        let place = &self.place;
        let remedy = format!("{} create namespace {}", place.kubectl_of_cluster(), place.namespace);
        StoreError::RootMissing { root: format!("{place} ({remedy})") }
    }

    fn unauthenticated(&self, answer: String) -> Refusal {
        let server = self.place.server.clone();
        Refusal::Unauthenticated { server, answer, kubectl: self.place.kubectl_of_cluster() }
    }

    /// What a server comes to that is too busy for as long as anybody waits.
    pub(super) fn turned_away(&self, verb: &str) -> StoreError {
        self.service(verb, format!("{ATTEMPTS} attempts were turned away"))
    }

    fn service(&self, verb: &str, source: impl Into<Cause>) -> StoreError {
        StoreError::Service {
            service: self.place.to_string(),
            operation: format!("{verb} secrets"),
            source: source.into(),
        }
    }
}

/// Whether a status says that this Secret is not there, and not that the address is wrong.
fn is_absent(status: &Status, name: &str) -> bool {
    is_of_kind(status, "secrets") && status.details.as_ref().is_some_and(|it| it.name == name)
}

pub(super) fn is_of_kind(status: &Status, kind: &str) -> bool {
    status.code == 404
        && status.reason == "NotFound"
        && status.details.as_ref().is_some_and(|details| details.kind == kind)
}

/// Whether the same request may be answered a little later.
fn is_passing(status: &Status) -> bool {
    status.code == 429 || status.code >= 500
}

fn pause(status: &Status, attempt: u32) -> Duration {
    let asked = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    Duration::from_secs(u64::from(asked)).clamp(back_off(attempt), LONGEST_PAUSE)
}

pub(super) fn back_off(attempt: u32) -> Duration {
    Duration::from_millis(100 << attempt.min(5))
}
