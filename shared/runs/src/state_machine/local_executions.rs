//! Executions in this process, and what is kept of them on disk.

use super::definition::{Definition, Resource};
use super::execution::{Execution, FORMAT, Need, Standing, Step, TIMEOUT, TokenAnswer};
use crate::executions::{ExecutionError, Executions};
use async_trait::async_trait;
use engine::clock::Clock;
use engine::identifiers::WriteId;
use engine::random::Random;
use engine::record::key::encode;
use futures::FutureExt;
use records::{Key, RecordStore, StoreError, Version};
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// How long the name of an execution that is over stays taken, in seconds: as long as in Step Functions.
const NAMES_STAY: i64 = 90 * 24 * 60 * 60;
/// How long a sleep lasts at most before the clock is read again, which stands still while a laptop is shut, and the record, in
/// which an answer may be of which whoever gave it could not tell us.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);
/// How often a change is tried on a record that others change too.
const ATTEMPTS: u32 = 16;
/// What this program says of a function that panics, as functions that are deployed do.
const PANICKED: &str = "Panicked";
/// Known to no definition: nothing was tried.
const NOT_BEGUN: &str = "NotBegun";

/// Something that the definition wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskRequest {
    /// A function, by the name of its parameter in the definition: `PlanFunction`.
    Invoke {
        /// The name.
        function: String,
        /// What it is invoked with.
        payload: Value,
    },
    /// Events to tell of.
    Announce {
        /// As EventBridge takes them.
        entries: Value,
    },
}

/// A task was not done; the name that the definition knows its error by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskError(pub String);

impl TaskError {
    /// It took longer than it may.
    pub fn late() -> TaskError {
        TaskError(TIMEOUT.to_owned())
    }

    /// It was not begun, since the process stops. It counts as no attempt.
    pub fn not_begun() -> TaskError {
        TaskError(NOT_BEGUN.to_owned())
    }

    /// Whoever did it panicked.
    pub fn panicked() -> TaskError {
        TaskError(PANICKED.to_owned())
    }
}

/// Does what definitions want done.
#[async_trait]
pub trait Resources: Send + Sync {
    /// Does a task within a time, of which waiting for room to begin is no part; the answer of the function.
    ///
    /// # Errors
    /// By the name that the definition repeats or catches; [`TaskError::late`] where the time is over, and
    /// [`TaskError::not_begun`] where the process stops before there is room.
    async fn perform(&self, request: TaskRequest, time: Duration) -> Result<Value, TaskError>;

    /// Whether a task may be left at any moment where the process ends, and done anew by the next one.
    fn may_be_left(&self, request: &TaskRequest) -> bool;
}

/// Is told how executions go on.
pub trait ExecutionObserver: Send + Sync {
    /// An execution has entered a state.
    fn entered(&self, execution: &str, state: &str);
    /// What is kept of it cannot be read or written. It is tried again.
    fn troubled(&self, execution: &str, error: &StoreError);
}

/// Executions of one definition, which survive the process.
#[derive(Clone)]
pub struct LocalExecutions(Arc<Inner>);

struct Inner {
    definition: Definition,
    store: Arc<dyn RecordStore>,
    resources: Arc<dyn Resources>,
    observer: Arc<dyn ExecutionObserver>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// Executions that are being worked off, and what wakes whoever does where an answer came.
    at_work: Mutex<BTreeMap<String, Arc<Notify>>>,
    stopping: watch::Sender<bool>,
    drivers: Mutex<JoinSet<()>>,
}

impl LocalExecutions {
    /// Executions whose records are in a store of their own. Nothing is begun before [`LocalExecutions::resume`] but what is
    /// started.
    pub fn new(
        definition: Definition,
        store: Arc<dyn RecordStore>,
        resources: Arc<dyn Resources>,
        observer: Arc<dyn ExecutionObserver>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> LocalExecutions {
        LocalExecutions(Arc::new(Inner {
            definition,
            store,
            resources,
            observer,
            clock,
            random,
            at_work: Mutex::default(),
            stopping: watch::Sender::new(false),
            drivers: Mutex::default(),
        }))
    }

    /// Goes on with all that an earlier process left; how many they are. What it was at work on counts as tried once. One
    /// process may do this at a time.
    ///
    /// # Errors
    /// Where the records cannot be read or written.
    pub async fn resume(&self) -> Result<usize, StoreError> {
        let inner = &self.0;
        let mut left = Vec::new();
        // All are read before one is begun: where one cannot be, nothing is at work that would be torn off.
        for (key, record) in inner.store.get_all("").await? {
            let execution = inner.decoded(&key, &record.body)?;
            match execution.standing {
                Standing::Ended { at, .. } if at < inner.clock.seconds() - NAMES_STAY => {
                    inner.store.delete(&key, &record.version).await?;
                }
                Standing::Ended { .. } => {}
                Standing::Due { .. } | Standing::Begun { .. } => left.push(execution.name),
            }
        }
        for name in &left {
            inner.change(name, |execution, step| execution.resume(step)).await?;
        }
        let resumed = left.len();
        left.into_iter().for_each(|name| inner.spawn(name));
        Ok(resumed)
    }

    /// Begins nothing more, leaves what may be left, and returns once the rest has ended. All of it is gone on with by
    /// [`LocalExecutions::resume`].
    pub async fn stop(&self) {
        self.0.stopping.send_replace(true);
        let mut drivers = std::mem::take(&mut *lock(&self.0.drivers));
        while drivers.join_next().await.is_some() {}
    }
}

impl Inner {
    /// Has an execution worked off, unless it is being.
    fn spawn(self: &Arc<Inner>, name: String) {
        let wake = Arc::new(Notify::new());
        match lock(&self.at_work).entry(name.clone()) {
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => {
                place.insert(wake.clone());
            }
        }
        let mut drivers = lock(&self.drivers);
        while drivers.try_join_next().is_some() {}
        drivers.spawn(self.clone().drive(name, wake));
    }

    /// Works an execution off.
    async fn drive(self: Arc<Inner>, name: String, wake: Arc<Notify>) {
        loop {
            match self.round(&name, &wake).await {
                Ok(Round::Over) => break,
                Ok(Round::Further) => {}
                Err(error) => {
                    self.observer.troubled(&name, &error);
                    if self.pause(LONGEST_SLEEP, &wake).await == Pause::Stopping {
                        break;
                    }
                }
            }
        }
        lock(&self.at_work).remove(&name);
    }

    async fn round(&self, name: &str, wake: &Notify) -> Result<Round, StoreError> {
        let Some((execution, _)) = self.read(name).await? else { return Ok(Round::Over) };
        let (step, stopping) = (self.step(&|_| {}), *self.stopping.borrow());
        match execution.need(&step) {
            Need::Nothing => return Ok(Round::Over),
            Need::Task { .. } if stopping => {
                self.change(name, |execution, step| execution.put_back(step)).await?;
                return Ok(Round::Over);
            }
            _ if stopping => return Ok(Round::Over),
            Need::Moment(at) => {
                let left = Duration::from_secs(at.abs_diff(step.now)).min(LONGEST_SLEEP);
                self.pause(left, wake).await;
            }
            Need::Begin => self.change(name, |execution, step| execution.begin(step)).await?,
            Need::EndOfWait => {
                self.change(name, |execution, step| execution.end_wait(step)).await?
            }
            Need::Task { resource, parameters, seconds } => {
                let request = request(resource, parameters);
                let left = self.resources.may_be_left(&request);
                let time = Duration::from_secs(u64::from(seconds));
                let done = AssertUnwindSafe(self.resources.perform(request, time)).catch_unwind();
                let result = tokio::select! {
                    result = done => result,
                    () = self.asked_to_stop(), if left => {
                        self.change(name, |execution, step| execution.put_back(step)).await?;
                        return Ok(Round::Over);
                    }
                };
                let result = result.unwrap_or_else(|_panic| Err(TaskError::panicked()));
                if result == Err(TaskError::not_begun()) {
                    self.change(name, |execution, step| execution.put_back(step)).await?;
                    return Ok(Round::Further);
                }
                // What was done is written down, however long it takes: a lost answer would be done again.
                let note = |execution: &mut Execution, step: &Step<'_>| match &result {
                    Ok(answer) => execution.done(step, Ok(answer.clone())),
                    Err(TaskError(name)) => execution.done(step, Err(name)),
                };
                while let Err(error) = self.change(name, note).await {
                    self.observer.troubled(name, &error);
                    if self.pause(LONGEST_SLEEP, wake).await == Pause::Stopping {
                        return Err(error);
                    }
                }
            }
        }
        Ok(Round::Further)
    }

    fn step<'a>(&'a self, entered: &'a (dyn Fn(&str) + Sync)) -> Step<'a> {
        let (definition, now) = (&self.definition, self.clock.seconds());
        Step { definition, now, random: &*self.random, entered }
    }

    async fn pause(&self, time: Duration, wake: &Notify) -> Pause {
        tokio::select! {
            () = self.clock.sleep(time) => Pause::Over,
            () = wake.notified() => Pause::Over,
            () = self.asked_to_stop() => Pause::Stopping,
        }
    }

    async fn asked_to_stop(&self) {
        // Whoever asks is here as long as we are.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    async fn read(&self, name: &str) -> Result<Option<(Execution, Version)>, StoreError> {
        let key = Key::new(encode(name))?;
        let Some(record) = self.store.get(&key).await? else { return Ok(None) };
        Ok(Some((self.decoded(&key, &record.body)?, record.version)))
    }

    fn decoded(&self, key: &Key, body: &[u8]) -> Result<Execution, StoreError> {
        let unreadable = |problem: String| StoreError::Unsuitable {
            location: format!("the execution {key} in {}", self.store.location()),
            problem: format!(
                "{problem}; it was written by another version or by hand. Take its file away, and the others are gone on with"
            ),
        };
        let execution: Execution =
            serde_json::from_slice(body).map_err(|error| unreadable(error.to_string()))?;
        match execution.format {
            FORMAT => Ok(execution),
            other => {
                Err(unreadable(format!("its format is {other}, and this version knows {FORMAT}")))
            }
        }
    }

    /// Changes an execution's record. `change` may be called several times.
    async fn change(
        &self,
        name: &str,
        change: impl Fn(&mut Execution, &Step<'_>) + Send + Sync,
    ) -> Result<(), StoreError> {
        let key = Key::new(encode(name))?;
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let Some((mut execution, version)) = self.read(name).await? else { return Ok(()) };
            let entered = Mutex::new(Vec::new());
            {
                let note = |state: &str| lock(&entered).push(state.to_owned());
                change(&mut execution, &self.step(&note));
            }
            execution.write_id = WriteId::new(&*self.random);
            match self.store.put_if_version(&key, encoded(&execution), &version).await {
                Ok(_) => {
                    let entered = entered.into_inner().unwrap_or_else(PoisonError::into_inner);
                    entered.iter().for_each(|state| self.observer.entered(name, state));
                    return Ok(());
                }
                Err(error @ StoreError::Conflict { .. }) => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        last.map_or(Ok(()), Err)
    }

    async fn answer(&self, token: &str, answer: TokenAnswer) -> Result<(), ExecutionError> {
        let name = token.split_once('.').map(|(name, _)| name).ok_or(ExecutionError::NotWaiting)?;
        let waits = Mutex::new(false);
        let note = |execution: &mut Execution, _: &Step<'_>| {
            *lock(&waits) = execution.answer(token, answer.clone());
        };
        self.change(name, note).await.map_err(|error| failed("answering an execution", &error))?;
        if !waits.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(ExecutionError::NotWaiting);
        }
        if let Some(wake) = lock(&self.at_work).get(name) {
            wake.notify_one();
        }
        Ok(())
    }
}

#[async_trait]
impl Executions for LocalExecutions {
    async fn start(&self, name: &str, input: &Value) -> Result<(), ExecutionError> {
        let inner = &self.0;
        let failed = |error: StoreError| failed("starting an execution", &error);
        let entered = Mutex::new(Vec::new());
        let execution = {
            let note = |state: &str| lock(&entered).push(state.to_owned());
            Execution::new(&inner.step(&note), name, input.clone())
        };
        let key = Key::new(encode(name)).map_err(failed)?;
        match inner.store.put_if_absent(&key, encoded(&execution)).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => {
                // It may have been written by a request that was not told so, after which nobody works it off.
                inner.spawn(name.to_owned());
                return Ok(());
            }
            Err(error) => return Err(failed(error)),
        }
        let entered = entered.into_inner().unwrap_or_else(PoisonError::into_inner);
        entered.iter().for_each(|state| inner.observer.entered(name, state));
        inner.spawn(name.to_owned());
        Ok(())
    }

    async fn succeed(&self, task_token: &str) -> Result<(), ExecutionError> {
        self.0.answer(task_token, TokenAnswer::Succeeded).await
    }

    async fn fail(&self, task_token: &str, error: &str) -> Result<(), ExecutionError> {
        self.0.answer(task_token, TokenAnswer::Failed { error: error.to_owned() }).await
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Further,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Over,
    Stopping,
}

/// What a task of the definition asks for.
fn request(resource: Resource, mut parameters: Value) -> TaskRequest {
    match resource {
        Resource::PutEvents => TaskRequest::Announce { entries: parameters["Entries"].take() },
        Resource::Invoke | Resource::InvokeAndWait => {
            let function = parameters["FunctionName"].as_str().unwrap_or_default();
            let function = function.trim_start_matches("${").trim_end_matches('}').to_owned();
            TaskRequest::Invoke { function, payload: parameters["Payload"].take() }
        }
    }
}

fn failed(operation: &'static str, error: &StoreError) -> ExecutionError {
    ExecutionError::Service { operation, problem: error.to_string() }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn encoded(execution: &Execution) -> bytes::Bytes {
    // A structure of texts and numbers always has a JSON form.
    serde_json::to_vec(execution).unwrap_or_default().into()
}
