//! Where a transaction's results go: into the records that it has claimed.

mod claims;
mod journal;
mod messages;

use super::{Estate, EstateError, EstateReading, RecordFacts, Swapped, swap, swap_instance};
use crate::checks::CheckResults;
use crate::hashing::HashMap;
use crate::identifiers::{PlanId, RunId, WriteId, hexadecimal};
use crate::record::body::{
    Claim, ClaimedObject, Doubt, FORMAT, InstanceBody, JournalEntry, JournalOutcome, MovedFrom,
    ObjectBody, RecordKind, UnknownFields, WrittenBy, decode, encode,
};
use crate::recorder::{
    Call, CallRefused, NothingMore, OutputsWritten, RecordError, Recorder, RecordsNow, Step,
};
use crate::state::{InstanceState, OutputState, Revision, State};
use crate::transaction::{Lease, Member};
use async_trait::async_trait;
use bytes::Bytes;
use claims::Turns;
use journal::Journal;
use messages::{conflict, recorded_in_part, taken_over_while_provisioning, unwritable};
use records::{Key, StoreError, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::Value;
use values::address::{ResourceInstance, ResourceMode};

/// Where a result goes that the store would not take: a file that only its owner can read.
pub trait Spill: Send + Sync {
    /// Keeps a body durably; answers where, for messages.
    ///
    /// # Errors
    /// Where even that fails.
    fn keep(&self, key: &Key, body: &[u8]) -> std::io::Result<String>;
}

/// Writes what a transaction learns into the estate's records, each by compare-and-swap from the
/// version that was read or written last.
pub struct EstateRecorder {
    estate: Estate,
    written_by: WrittenBy,
    spill: Option<Arc<dyn Spill>>,
    plan: PlanId,
    attempt: u32,
    members: Arc<BTreeMap<ResourceInstance, Member>>,
    lease: Arc<Lease>,
    turns: Turns,
    /// The estate's serial since this transaction began, and what was recorded then.
    serial: u64,
    found: Arc<State>,
    slots: Mutex<HashMap<ResourceInstance, Arc<Slot>>>,
    outputs: Mutex<BTreeMap<Arc<str>, OutputState>>,
    journal: Mutex<Journal>,
}

/// What a recorder starts from.
pub(crate) struct RecorderStart<'a> {
    pub(crate) estate: Estate,
    pub(crate) reading: &'a EstateReading,
    pub(crate) serial: u64,
    pub(crate) written_by: WrittenBy,
    pub(crate) spill: Option<Arc<dyn Spill>>,
    pub(crate) plan: PlanId,
    pub(crate) attempt: u32,
    pub(crate) members: Arc<BTreeMap<ResourceInstance, Member>>,
    pub(crate) lease: Arc<Lease>,
}

/// What is known of one record: what it says, and the version a write has to name.
#[derive(Clone, Default)]
struct Slot {
    version: Version,
    revision: Revision,
    state: Arc<InstanceState>,
    carried: Option<Arc<RecordFacts>>,
    /// Version of the stray that holds results of this instance, once its record was lost.
    stray: Option<Version>,
}

/// What a write is, beside the objects.
enum Kind {
    Result(Mark),
    Refresh,
    Moved(MovedFrom, Mark),
}

/// What a record says of the transaction's work from then on.
#[derive(Clone, Default, PartialEq)]
struct Mark {
    claim: Option<Claim>,
    doubt: Option<Doubt>,
    /// For the journal; `None` where something begins, or goes on.
    outcome: Option<JournalOutcome>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EstateRecorder {
    pub(crate) fn new(start: RecorderStart<'_>) -> EstateRecorder {
        let RecorderStart { estate, reading, written_by, spill, .. } = start;
        let slot = |(address, facts): (&ResourceInstance, &RecordFacts)| {
            let state = reading.state.instances.get(address).cloned().unwrap_or_default();
            let slot = Slot {
                version: facts.version.clone(),
                revision: facts.revision.clone(),
                state,
                carried: Some(Arc::new(facts.clone())),
                stray: None,
            };
            (address.clone(), Arc::new(slot))
        };
        EstateRecorder {
            serial: start.serial,
            found: reading.state.clone(),
            slots: Mutex::new(reading.records.iter().map(slot).collect()),
            outputs: Mutex::new(reading.state.outputs.clone()),
            journal: Mutex::default(),
            estate,
            written_by,
            spill,
            plan: start.plan,
            attempt: start.attempt,
            members: start.members,
            lease: start.lease,
            turns: Turns::default(),
        }
    }

    /// The store's version of an instance's record as this recorder knows it.
    pub fn version(&self, address: &ResourceInstance) -> Version {
        self.slot(address).version.clone()
    }

    /// What was done so far, in the order in which it was begun, and the outputs that were written.
    pub(crate) fn journal(&self) -> (Vec<JournalEntry>, Vec<String>) {
        lock(&self.journal).contents()
    }
    /// Whether a result was recorded that need not be waited for any more.
    pub(crate) fn has_finished_anything(&self) -> bool {
        let (entries, _) = lock(&self.journal).contents();
        entries.iter().any(|entry| {
            !matches!(entry.outcome, JournalOutcome::Begun | JournalOutcome::Unfinished)
        })
    }
    /// Instances whose records were written.
    pub(crate) fn written(&self) -> BTreeSet<ResourceInstance> {
        lock(&self.journal).written()
    }

    /// Removes the records of objects that a transaction before this one moved away without getting
    /// further. What another run does to them meanwhile is its own business.
    pub(crate) async fn settle_moves(&self, reading: &EstateReading) {
        for (address, _) in reading.records.iter().filter(|(_, facts)| facts.is_void()) {
            let gone = InstanceState::default();
            if self.slot(address).carried.as_ref().is_some_and(|facts| facts.is_void()) {
                let _ = self.put(address, &gone, Kind::Refresh).await;
            }
        }
    }

    fn slot(&self, address: &ResourceInstance) -> Arc<Slot> {
        lock(&self.slots).get(address).cloned().unwrap_or_default()
    }
    fn set_slot(&self, address: &ResourceInstance, slot: Slot) {
        lock(&self.slots).insert(address.clone(), Arc::new(slot));
    }
    fn settle(&self, address: &ResourceInstance, outcome: JournalOutcome) {
        lock(&self.journal).end(address, outcome, self.estate.clock.seconds());
    }

    fn body(
        &self,
        key: &Key,
        address: &ResourceInstance,
        state: &InstanceState,
        slot: &Slot,
        kind: &Kind,
    ) -> Result<InstanceBody, EstateError> {
        let live = state.current.is_some() || !state.deposed.is_empty();
        let object = |object| ObjectBody::from_object(key, object);
        let deposed = state.deposed.iter().map(|(k, o)| Ok((k.to_string(), object(o)?)));
        let unchanged = !slot.revision.0.is_empty() && slot.state.same_objects(state);
        let revision = match kind {
            _ if !live => String::new(),
            // A record that is new (a data source's) has no revision to keep.
            Kind::Refresh if !slot.revision.0.is_empty() => slot.revision.0.to_string(),
            Kind::Result(_) if unchanged => slot.revision.0.to_string(),
            Kind::Refresh | Kind::Result(_) | Kind::Moved(..) => hexadecimal(&*self.estate.random),
        };
        let carried = slot.carried.as_deref();
        Ok(InstanceBody {
            format: FORMAT,
            address: address.to_string(),
            kind: match (live, carried.map(|c| c.kind)) {
                (true, _) => RecordKind::Live,
                // Nothing was there, and nothing came of it.
                (false, None | Some(RecordKind::Shell)) => RecordKind::Shell,
                (false, Some(RecordKind::Live | RecordKind::Tombstone)) => RecordKind::Tombstone,
            },
            revision,
            write_id: WriteId::new(&*self.estate.random),
            written_at: self.estate.clock.seconds(),
            written_by: self.written_by.clone(),
            object: state.current.as_ref().map(object).transpose()?,
            deposed: deposed.collect::<Result<_, EstateError>>()?,
            moved_from: match kind {
                Kind::Moved(from, _) => Some(from.clone()),
                Kind::Result(_) | Kind::Refresh => carried.and_then(|c| c.moved_from.clone()),
            },
            claim: match kind {
                Kind::Refresh => carried.and_then(|c| c.claim.clone()),
                Kind::Result(mark) | Kind::Moved(_, mark) => mark.claim.clone(),
            },
            doubt: match kind {
                Kind::Result(Mark { doubt: Some(doubt), .. }) => Some(doubt.clone()),
                _ => carried.and_then(|c| c.doubt.clone()),
            },
            unknown: carried.map_or_else(UnknownFields::new, |c| c.unknown.clone()),
        })
    }

    /// Writes one record. `Err` holds what to tell: the result may still be durable elsewhere.
    async fn put(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
        kind: Kind,
    ) -> Result<(), RecordError> {
        let slot = self.slot(address);
        let outcome = match &kind {
            Kind::Result(mark) | Kind::Moved(_, mark) => mark.outcome,
            Kind::Refresh => Some(JournalOutcome::Recorded),
        };
        let settle = || outcome.into_iter().for_each(|outcome| self.settle(address, outcome));
        if slot.stray.is_none() && !says_more(&slot, state, &kind) {
            settle();
            return Ok(());
        }
        let key = self.estate.keys.instance(address).map_err(|e| unwritable(address, &e.into()))?;
        let body = self
            .body(&key, address, state, &slot, &kind)
            .map_err(|error| unwritable(address, &error))?;
        // What is not claimed gives way to whoever wrote it meanwhile.
        let yields = matches!(kind, Kind::Refresh);
        let expected = match &state.version {
            Some(planned) if yields && self.own_claim(&slot).is_none() => planned,
            _ => &slot.version,
        };
        if slot.stray.is_some() {
            return match yields {
                true => Ok(()),
                false => self.put_stray(address, state, &slot, body, None).await,
            };
        }
        let encoded = encode(&key, &body).map_err(|e| unwritable(address, &e.into()))?;
        let store = &*self.estate.store;
        let first = match yields {
            true => swap(store, &key, encoded.clone(), expected).await,
            false => swap_instance(store, &key, encoded.clone(), expected).await,
        };
        let (written, partial) = match first {
            Err(error @ StoreError::TooLarge { .. }) if !yields => {
                let minimal =
                    encode(&key, &body.minimal()).map_err(|e| unwritable(address, &e.into()))?;
                (swap(store, &key, minimal, expected).await, Some(error))
            }
            written => (written, None),
        };
        match written {
            Ok(Swapped::Written(version)) => {
                self.wrote(address, version, body, state.clone());
                settle();
                partial.map_or(Ok(()), |error| Err(recorded_in_part(address, &error)))
            }
            Ok(Swapped::Lost(_)) if yields => Ok(()),
            // The object is recorded, as tainted, and whoever came after us went on from there.
            Ok(Swapped::Lost(_)) if self.is_provisioning(&slot) => {
                self.settle(address, JournalOutcome::Unrecorded);
                Err(taken_over_while_provisioning(address))
            }
            Ok(Swapped::Lost(found)) => {
                let by = found.and_then(|r| decode::<InstanceBody>(&key, &r.body).ok());
                self.put_stray(address, state, &slot, body, by.map(|b| b.written_by)).await
            }
            Err(error) => {
                self.settle(address, JournalOutcome::Unrecorded);
                Err(self.spilled(address, &key, &encoded, &error))
            }
        }
    }

    /// Remembers what a record says since it was written.
    fn wrote(
        &self,
        address: &ResourceInstance,
        version: Version,
        body: InstanceBody,
        state: InstanceState,
    ) {
        let revision = Revision(body.revision.as_str().into());
        let carried = Some(Arc::new(RecordFacts {
            version: version.clone(),
            kind: body.kind,
            revision: revision.clone(),
            written_by: body.written_by,
            written_at: body.written_at,
            claim: body.claim,
            doubt: body.doubt,
            moved_from: body.moved_from,
            unknown: body.unknown,
        }));
        let state = Arc::new(state);
        self.set_slot(address, Slot { version, revision, state, carried, stray: None });
    }

    /// Keeps a result beside its record, which another writer has changed.
    async fn put_stray(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
        slot: &Slot,
        mut body: InstanceBody,
        by: Option<WrittenBy>,
    ) -> Result<(), RecordError> {
        body.claim = None;
        let run: &RunId = &self.written_by.run;
        let key = self.estate.keys.stray(address, run);
        let key = key.map_err(|e| unwritable(address, &e.into()))?;
        let encoded = encode(&key, &body).map_err(|e| unwritable(address, &e.into()))?;
        let expected = slot.stray.clone().unwrap_or_default();
        match swap_instance(&*self.estate.store, &key, encoded.clone(), &expected).await {
            Ok(Swapped::Written(version)) => {
                let mut slot = slot.clone();
                slot.state = Arc::new(state.clone());
                slot.stray = Some(version);
                self.set_slot(address, slot);
                self.settle(address, JournalOutcome::Stray);
                Err(conflict(address, &key, by))
            }
            Ok(Swapped::Lost(_)) => {
                self.settle(address, JournalOutcome::Unrecorded);
                let error =
                    StoreError::Conflict { key: key.clone(), expected, actual: Version::absent() };
                Err(self.spilled(address, &key, &encoded, &error))
            }
            Err(error) => {
                self.settle(address, JournalOutcome::Unrecorded);
                Err(self.spilled(address, &key, &encoded, &error))
            }
        }
    }

    /// The last resort: a file of our own.
    fn spilled(
        &self,
        address: &ResourceInstance,
        key: &Key,
        body: &Bytes,
        error: &StoreError,
    ) -> RecordError {
        let kept = self.spill.as_ref().map(|spill| spill.keep(key, body));
        let whereabouts = match kept {
            Some(Ok(place)) => format!(
                "The result was kept in {place}. Once the store can be written, run `plumb adopt '{address}' \
                 -from='{place}'`; until then do not apply this estate."
            ),
            Some(Err(io)) => format!(
                "It could not be kept in a file either ({io}). The object exists and nothing says so: \
                 note it down, and run `plumb import '{address}' ID` once the store can be written."
            ),
            None => format!(
                "The object exists and no record says so: note it down, and run `plumb import '{address}' ID` \
                 once the store can be written."
            ),
        };
        RecordError {
            summary: format!("The result for {address} could not be recorded"),
            detail: format!("{error}. {whereabouts}"),
        }
    }
}

/// Whether a record would say anything that it does not say already.
fn says_more(slot: &Slot, state: &InstanceState, kind: &Kind) -> bool {
    let carried = slot.carried.as_deref();
    let mark = match kind {
        Kind::Moved(..) => return true,
        Kind::Refresh => None,
        Kind::Result(mark) => Some(mark),
    };
    let claim = carried.and_then(|c| c.claim.as_ref());
    carried.is_some_and(RecordFacts::is_void)
        || !slot.state.same_objects(state)
        || mark.is_some_and(|mark| mark.doubt.is_some())
        || mark.and_then(|mark| mark.claim.as_ref()).is_some_and(|ours| Some(ours) != claim)
}

impl InstanceState {
    /// Whether both consist of the same objects, versions and revisions aside.
    pub fn same_objects(&self, other: &InstanceState) -> bool {
        self.current == other.current && self.deposed == other.deposed
    }
}

#[async_trait]
impl Recorder for EstateRecorder {
    async fn begin(&self, address: &ResourceInstance, call: &Call) -> Result<(), CallRefused> {
        self.begin_call(address, call).await
    }

    fn may_begin(&self) -> Result<(), NothingMore> {
        self.lease.may_begin()
    }

    async fn write(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
        step: Step,
    ) -> Result<(), RecordError> {
        let turn = self.turns.end_of_call(address).await;
        let mark = self.mark(address, step);
        // What a check looks at is nobody's: several runs may write it, and any of them is right.
        let kind = match mark.claim.is_none() && address.resource.mode == ResourceMode::Data {
            true => Kind::Refresh,
            false => Kind::Result(mark),
        };
        let written = self.put(address, state, kind).await;
        if step == Step::Provisioning && written.is_ok() {
            self.turns.keep(address, turn);
        }
        written
    }

    async fn doubt(
        &self,
        address: &ResourceInstance,
        object: &ClaimedObject,
        token: Option<&str>,
    ) -> Result<(), RecordError> {
        let _turn = self.turns.end_of_call(address).await;
        self.put_doubt(address, object, token).await
    }

    async fn write_moved(
        &self,
        from: &ResourceInstance,
        address: &ResourceInstance,
        state: &InstanceState,
        step: Step,
    ) -> Result<(), RecordError> {
        let revision = self.slot(from).revision.0.to_string();
        let moved_from = MovedFrom { address: from.to_string(), revision };
        let mark = self.mark(address, step);
        self.put(address, state, Kind::Moved(moved_from, mark)).await?;
        let gone = self.mark(from, Step::Done);
        self.put(from, &InstanceState::default(), Kind::Result(gone)).await
    }

    async fn refresh(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
    ) -> Result<(), RecordError> {
        self.put(address, state, Kind::Refresh).await
    }

    async fn records_now(&self) -> Result<RecordsNow, RecordError> {
        let estate = &self.estate;
        let read = async {
            let header = estate.read_header().await?;
            // Who begins raises the serial, and who is at work is on the list.
            let alone = header.is_some_and(|now| {
                now.serial == self.serial && now.under_way == [self.plan.clone()]
            });
            if alone {
                return Ok::<_, EstateError>(RecordsNow { state: self.found.clone(), alone });
            }
            let known = lock(&self.outputs).clone();
            let outputs = estate.read_outputs(&known).await?;
            *lock(&self.outputs) = outputs;
            Ok(RecordsNow { state: estate.read().await?.state, alone })
        };
        read.await.map_err(|error| RecordError {
            summary: "The outputs could not be derived".into(),
            detail: format!(
                "Other runs were at work, and the records could not be read again: {error}. The instances are \
                 recorded; run `plumb apply` again."
            ),
        })
    }

    async fn write_outputs(
        &self,
        planned: &BTreeMap<Arc<str>, OutputState>,
        outputs: &BTreeMap<Arc<str>, Value>,
    ) -> Result<OutputsWritten, RecordError> {
        let known = lock(&self.outputs).clone();
        let failed = |name: &str, error: EstateError| RecordError {
            summary: format!("The output {name} could not be recorded"),
            detail: format!("{error}. The instances are recorded; run `plumb apply` again."),
        };
        let mut outcome = OutputsWritten::Unchanged;
        for (name, value) in outputs {
            let before = known.get(name);
            let is_same = |output: &OutputState| same_output(&output.value, value);
            if before.is_some_and(is_same) || planned.get(name).is_some_and(is_same) {
                continue;
            }
            let version = before.and_then(|b| b.version.clone()).unwrap_or_default();
            let written = self.estate.write_output(name, value, &version, &self.written_by).await;
            match written.map_err(|error| failed(name, error))? {
                Ok(written) => lock(&self.outputs).insert(name.clone(), written),
                Err(_) => return Ok(OutputsWritten::OthersWereFirst),
            };
            lock(&self.journal).output(name);
            outcome = OutputsWritten::Written;
        }
        let gone = |name: &Arc<str>| planned.contains_key(name) && !outputs.contains_key(name);
        for (name, before) in known.iter().filter(|(name, _)| gone(name)) {
            let version = before.version.clone().unwrap_or_default();
            let deleted = self.estate.delete_output(name, &version).await;
            if deleted.map_err(|error| failed(name, error))?.is_err() {
                return Ok(OutputsWritten::OthersWereFirst);
            }
            lock(&self.outputs).remove(name);
            lock(&self.journal).output(name);
            outcome = OutputsWritten::Written;
        }
        Ok(outcome)
    }

    async fn write_checks(&self, checks: &CheckResults) -> Result<(), RecordError> {
        let known = &self.found.checks;
        if known.results == *checks {
            return Ok(());
        }
        let version = known.version.clone().unwrap_or_default();
        let written = self.estate.write_checks(checks, &version, &self.written_by).await;
        written.map_err(|error| RecordError {
            summary: "The results of conditions could not be recorded".into(),
            detail: format!(
                "{error}. All else is recorded; they are found again by the next apply."
            ),
        })
    }
}

/// Records keep one mark for a whole output.
fn same_output(recorded: &Value, value: &Value) -> bool {
    recorded.deep_marks().is_sensitive() == value.deep_marks().is_sensitive()
        && recorded.unmark_deep() == value.unmark_deep()
}
