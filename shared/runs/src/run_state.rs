//! The state of a run: what was asked for, how far it is, and what came of it.
//!
//! One record for each run, changed by compare-and-swap, in a store of its own (`runs/` beside `records/`), so that
//! `api` may write here and nowhere near a resource's record.

use crate::artifact::ArtifactReference;
use crate::run_reference::{EstateReference, Mode, PlanReference, RunReference};
use engine::clock::Clock;
use engine::identifiers::{Principal, RunId, WriteId};
use engine::random::Random;
use engine::record::key::encode;
use futures::future::try_join_all;
use records::{Key, RecordStore, StoreError, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The format of bodies.
const FORMAT: u32 = 1;
/// How often a change is tried on a state that others change too.
const ATTEMPTS: u32 = 16;
/// How many states are read at once where it is not known how many are wanted.
const AT_ONCE: usize = 10;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Its execution was asked for.
    Requested,
    /// The configuration is there.
    Fetched,
    /// The plan is made.
    Planned,
    /// Somebody has to agree to the plan.
    WaitingForApproval,
    /// Somebody agreed.
    Approved,
    /// The plan passed every stage.
    Validated,
    /// Changes are being made.
    Applying,
    /// All changes were made.
    Applied,
    /// There was nothing to do.
    NothingToDo,
    /// The plan was made, and telling was all that this run was for.
    Told,
    /// A stage refused the plan.
    Rejected,
    /// Somebody said no.
    Declined,
    /// A newer push came while it waited.
    Superseded,
    /// Nobody agreed in time.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// It did not work.
    Failed,
}

impl Status {
    /// Whether the run is over: then its status stays.
    pub fn is_final(self) -> bool {
        use Status::*;
        match self {
            Requested | Fetched | Planned | WaitingForApproval | Approved | Validated
            | Applying => false,
            Applied | NothingToDo | Told | Rejected | Declined | Superseded | TimedOut
            | Cancelled | Failed => true,
        }
    }

    /// Whether it ended as it was meant to.
    pub fn is_success(self) -> bool {
        matches!(self, Status::Applied | Status::NothingToDo | Status::Told)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Requested => "requested",
            Status::Fetched => "fetched",
            Status::Planned => "planned",
            Status::WaitingForApproval => "waiting for approval",
            Status::Approved => "approved",
            Status::Validated => "validated",
            Status::Applying => "applying",
            Status::Applied => "applied",
            Status::NothingToDo => "nothing to do",
            Status::Told => "planned only",
            Status::Rejected => "rejected",
            Status::Declined => "declined",
            Status::Superseded => "superseded",
            Status::TimedOut => "timed out",
            Status::Cancelled => "cancelled",
            Status::Failed => "failed",
        })
    }
}

/// Who made the change, or asked for the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A login at the host of the repository.
    Login(String),
    /// An IAM or JWT principal.
    Principal(Principal),
    /// A schedule.
    Schedule,
}

impl Author {
    /// As journals record it.
    pub fn principal(&self) -> Principal {
        match self {
            Author::Login(login) => Principal::from_stored(format!("git:{login}")),
            Author::Principal(principal) => principal.clone(),
            Author::Schedule => Principal::from_stored("schedule"),
        }
    }
}

/// Where the configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunSource {
    /// A commit of a repository.
    Commit(Commit),
    /// A bundle that was uploaded.
    Bundle(ArtifactReference),
}

/// A commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The repository, with its host: `github.com/acme/infrastructure`.
    pub repository: String,
    /// Its full hash.
    pub sha: String,
    /// The branch.
    pub branch: String,
    /// The pull or merge request that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<u64>,
}

/// How many objects a plan changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeCounts {
    /// Created; replaced ones too.
    pub add: u64,
    /// Updated in place.
    pub change: u64,
    /// Destroyed; replaced ones too.
    pub destroy: u64,
    /// Imported.
    pub import: u64,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    format: u32,
    write_id: WriteId,
    /// Its id.
    pub run: RunId,
    /// Its estate.
    pub estate: EstateReference,
    /// What it is for.
    pub mode: Mode,
    /// Its configuration.
    pub source: RunSource,
    /// Who is behind it.
    pub author: Author,
    /// Who wrote the commits of its push, as their host calls them: logins, or addresses of e-mail where it knows no login.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub authors: BTreeSet<String>,
    /// How far it is.
    pub status: Status,
    /// Why it failed or was rejected, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// When it was asked for, seconds since the epoch.
    pub requested: i64,
    /// When this was written.
    pub updated: i64,
    /// The execution that runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<String>,
    /// The configuration, once it was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<ArtifactReference>,
    /// The plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReference>,
    /// What the plan changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeCounts>,
    /// Whether the plan changes anything, or found something changed.
    #[serde(default)]
    pub has_changes: bool,
    /// Who stopped it: no step begins any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<Principal>,
    /// What an answer to the waiting execution names. Whoever may write to the state machine could answer with it: it is never
    /// shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_token: Option<String>,
    /// What each step had to say, as text with sensitive values masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ArtifactReference>,
    /// What keeps the step that is being repeated from its end, as such text; gone once it has come to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_up: Option<ArtifactReference>,
}

impl RunState {
    /// As its states hand it on.
    pub fn reference(&self) -> RunReference {
        RunReference {
            run: self.run.clone(),
            estate: self.estate.clone(),
            mode: self.mode,
            bundle: self.bundle.clone(),
            plan: self.plan.clone(),
        }
    }

    /// The repository's commit, if it is one.
    pub fn commit(&self) -> Option<&Commit> {
        match &self.source {
            RunSource::Commit(commit) => Some(commit),
            RunSource::Bundle(_) => None,
        }
    }

    /// Who pushed or wrote its configuration, as their host calls them.
    pub fn logins(&self) -> impl Iterator<Item = &str> {
        let pushed = match &self.author {
            Author::Login(login) => Some(login),
            Author::Principal(_) | Author::Schedule => None,
        };
        pushed.into_iter().chain(&self.authors).map(String::as_str)
    }
}

/// What a run is begun with.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub run: RunId,
    /// Its estate.
    pub estate: EstateReference,
    /// What it is for.
    pub mode: Mode,
    /// Its configuration.
    pub source: RunSource,
    /// Who is behind it.
    pub author: Author,
    /// Who wrote the commits of its push, as their host calls them.
    pub authors: BTreeSet<String>,
    /// The configuration, where an earlier run fetched it.
    pub bundle: Option<ArtifactReference>,
    /// The plan, where an earlier run made it.
    pub plan: Option<PlanReference>,
}

/// The state of a run cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunStateError {
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such run.
    #[error(
        "the estate {estate} has no run {run}; GET /runs?estate={estate} lists those that it has"
    )]
    Absent {
        /// The run.
        run: RunId,
        /// The estate.
        estate: String,
    },
    /// The run is over.
    #[error("the run {run} is over ({status}), and stays so; start a new one")]
    Ended {
        /// The run.
        run: RunId,
        /// How it ended.
        status: Status,
    },
    /// The body cannot be read.
    #[error(
        "the state of the run in {key} cannot be read: {problem}; it was written by another version or by hand"
    )]
    Unreadable {
        /// Where it is.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Others change it faster than this does.
    #[error("the state of the run {run} is changed by others all the time; try again")]
    Contended {
        /// The run.
        run: RunId,
    },
}

/// The states of all runs.
#[derive(Clone)]
pub struct RunStates {
    store: Arc<dyn RecordStore>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl RunStates {
    /// In a store of their own.
    pub fn new(
        store: Arc<dyn RecordStore>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> RunStates {
        RunStates { store, clock, random }
    }

    /// The store.
    pub(crate) fn store(&self) -> &dyn RecordStore {
        &*self.store
    }

    /// The clock that states are dated with.
    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Where something about a run is kept.
    pub(crate) fn key(
        estate: &EstateReference,
        run: &RunId,
        what: &str,
    ) -> Result<Key, StoreError> {
        Key::new(format!("{}/{}/{what}", encode(estate.0.as_str()), encode(run.as_str())))
    }

    /// Begins a run; the state that it has already, where the same was asked for before.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn begin(&self, new: NewRun) -> Result<(RunState, Begun), RunStateError> {
        let now = self.clock.seconds();
        let state = RunState {
            format: FORMAT,
            write_id: WriteId::new(&*self.random),
            run: new.run,
            estate: new.estate,
            mode: new.mode,
            source: new.source,
            author: new.author,
            authors: new.authors,
            status: Status::Requested,
            code: None,
            requested: now,
            updated: now,
            execution: None,
            bundle: new.bundle,
            plan: new.plan,
            changes: None,
            has_changes: false,
            cancelled_by: None,
            task_token: None,
            notes: Vec::new(),
            held_up: None,
        };
        let key = RunStates::key(&state.estate, &state.run, STATE)?;
        let (state, begun) = match self.store.put_if_absent(&key, encoded(&state)).await {
            Ok(_) => (state, Begun::New),
            Err(StoreError::Conflict { .. }) => {
                (self.read(&state.estate, &state.run).await?, Begun::Repeated)
            }
            Err(error) => return Err(error.into()),
        };
        // A repeated request writes what an earlier one was kept from.
        let entry = recent(&state.estate, state.requested, &state.run)?;
        match self.store.put_if_absent(&entry, state.run.to_string().into()).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok((state, begun)),
            Err(error) => Err(error.into()),
        }
    }

    /// The state of a run.
    ///
    /// # Errors
    /// Where there is none, it cannot be read, or the store fails.
    pub async fn read(
        &self,
        estate: &EstateReference,
        run: &RunId,
    ) -> Result<RunState, RunStateError> {
        self.read_versioned(estate, run).await.map(|(state, _)| state)
    }

    async fn read_versioned(
        &self,
        estate: &EstateReference,
        run: &RunId,
    ) -> Result<(RunState, Version), RunStateError> {
        let key = RunStates::key(estate, run, STATE)?;
        let record = self.store.get(&key).await?.ok_or_else(|| RunStateError::Absent {
            run: run.clone(),
            estate: estate.0.to_string(),
        })?;
        Ok((decoded(&key, &record.body)?, record.version))
    }

    /// Changes the state of a run that is not over. `change` may be called several times.
    ///
    /// # Errors
    /// Where the run is over ([`RunStateError::Ended`]), there is none, or the store fails.
    pub async fn change(
        &self,
        estate: &EstateReference,
        run: &RunId,
        change: impl Fn(&mut RunState) + Send + Sync,
    ) -> Result<RunState, RunStateError> {
        let key = RunStates::key(estate, run, STATE)?;
        for _ in 0..ATTEMPTS {
            let (mut state, version) = self.read_versioned(estate, run).await?;
            if state.status.is_final() {
                return Err(RunStateError::Ended { run: run.clone(), status: state.status });
            }
            change(&mut state);
            state.write_id = WriteId::new(&*self.random);
            state.updated = self.clock.seconds();
            if state.status.is_final() {
                // Nobody waits any more.
                state.task_token = None;
            }
            match self.store.put_if_version(&key, encoded(&state), &version).await {
                Ok(_) => return Ok(state),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RunStateError::Contended { run: run.clone() })
    }

    /// The newest runs of an estate, the newest first: one list, and as many reads as there are runs in the answer.
    ///
    /// # Errors
    /// Where the store fails or a state cannot be read.
    pub async fn newest(
        &self,
        estate: &EstateReference,
        most: usize,
    ) -> Result<Vec<RunState>, RunStateError> {
        let runs = self.listed(estate, most).await?;
        self.read_all(estate, &runs).await
    }

    /// The newest runs of an estate up to the first that is the last, the newest first: one list, and few more reads than there
    /// are runs in the answer.
    ///
    /// # Errors
    /// As [`RunStates::newest`].
    pub async fn newest_until(
        &self,
        estate: &EstateReference,
        most: usize,
        is_last: impl Fn(&RunState) -> bool + Send + Sync,
    ) -> Result<Vec<RunState>, RunStateError> {
        let mut found = Vec::new();
        for runs in self.listed(estate, most).await?.chunks(AT_ONCE) {
            for state in self.read_all(estate, runs).await? {
                let last = is_last(&state);
                found.push(state);
                if last {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    async fn listed(
        &self,
        estate: &EstateReference,
        most: usize,
    ) -> Result<Vec<RunId>, RunStateError> {
        let prefix = format!("{}/{RECENT}/", encode(estate.0.as_str()));
        let entries = self.store.list(&prefix).await?;
        let runs = entries.iter().filter_map(|entry| {
            let name = entry.key.segments().next_back()?;
            name.split_once('-').map(|(_, run)| RunId::from_stored(run))
        });
        Ok(runs.take(most).collect())
    }

    async fn read_all(
        &self,
        estate: &EstateReference,
        runs: &[RunId],
    ) -> Result<Vec<RunState>, RunStateError> {
        let states = runs.iter().map(|run| async move {
            match self.read(estate, run).await {
                // It expired, or is about to be written.
                Err(RunStateError::Absent { .. }) => Ok(None),
                read => read.map(Some),
            }
        });
        Ok(try_join_all(states).await?.into_iter().flatten().collect())
    }
}

/// Whether a run was begun just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It was.
    New,
    /// The same was asked for before.
    Repeated,
}

const STATE: &str = "state";
/// The folder whose names are in the order of time, the newest first.
const RECENT: &str = "recent";

/// The entry of a run in that folder. It is written once, and says no more than its name.
fn recent(estate: &EstateReference, requested: i64, run: &RunId) -> Result<Key, StoreError> {
    let before = i64::MAX - requested;
    Key::new(format!(
        "{}/{RECENT}/{before:019}-{}",
        encode(estate.0.as_str()),
        encode(run.as_str())
    ))
}

fn encoded(state: &RunState) -> bytes::Bytes {
    // A structure of texts and numbers always has a JSON form.
    serde_json::to_vec(state).unwrap_or_default().into()
}

fn decoded(key: &Key, body: &[u8]) -> Result<RunState, RunStateError> {
    let unreadable = |problem: String| RunStateError::Unreadable { key: key.to_string(), problem };
    let state: RunState = serde_json::from_slice(body).map_err(|e| unreadable(e.to_string()))?;
    match state.format {
        FORMAT => Ok(state),
        other => Err(unreadable(format!("its format is {other}, and this version knows {FORMAT}"))),
    }
}
