//! Putting a state file in place of what is recorded: sealed while records are written, verified before the estate is
//! opened. Records that say the same stay as they are.

use super::{
    Estate, EstateError, EstateHeader, EstateReading, Swapped, TakeOverError, swap, swap_instance,
};
use crate::identifiers::{PlanId, Principal, RunId, WriteId};
use crate::object::StoredObject;
use crate::record::body::{
    BodyError, Decided, DecisionBody, FORMAT, InstanceBody, Seal, UnknownFields, WrittenBy, decode,
    encode,
};
use crate::state::{InstanceState, State};
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use records::{Key, Record, StoreError, Version};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceInstance;

/// How many records are written at once.
const PARALLELISM: usize = 16;

/// A state is not put in place of what is recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// They have nothing to do with each other.
    #[error(
        "cannot import state with lineage {given:?} over unrelated state with lineage {recorded:?}"
    )]
    OtherLineage {
        /// The file's.
        given: String,
        /// The estate's.
        recorded: String,
    },
    /// The file is older.
    #[error("cannot import state with serial {given} over newer state with serial {recorded}")]
    Older {
        /// The file's.
        given: u64,
        /// The estate's.
        recorded: u64,
    },
    /// They differ, and neither is newer.
    #[error(
        "cannot overwrite existing state with serial {serial} with a different state that has the same serial"
    )]
    SameSerial {
        /// Of both.
        serial: u64,
    },
    /// Somebody is changing the estate.
    #[error(
        "the plan {plan} is being applied to this estate, and its results would be lost. Nothing was changed: wait until it ends; if it \
         has died, apply it again, or end it with `plumb force-release {plan}`"
    )]
    UnderWay {
        /// The plan.
        plan: PlanId,
    },
    /// The records cannot be read, written or verified.
    #[error(transparent)]
    TakeOver(#[from] TakeOverError),
}

impl From<EstateError> for PushError {
    fn from(error: EstateError) -> PushError {
        TakeOverError::from(error).into()
    }
}
impl From<StoreError> for PushError {
    fn from(error: StoreError) -> PushError {
        TakeOverError::from(error).into()
    }
}
impl From<BodyError> for PushError {
    fn from(error: BodyError) -> PushError {
        TakeOverError::from(error).into()
    }
}

/// Whether the rules about lineage and serial are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushRules {
    /// They are.
    Checked,
    /// A person said that they are not.
    Forced,
}

/// One write: what a key holds, and what it is to hold; nothing for an output that is gone.
struct Write {
    key: Key,
    expected: Version,
    body: Option<Bytes>,
}

impl Estate {
    /// Makes the records say what a state says, and nothing else; results beside records and doubts stay. `from` is what the
    /// file is called. Killed anywhere, the estate stays sealed and the same call goes on. How many records were written; none where all said so already.
    ///
    /// # Errors
    /// Where the rules about lineage and serial forbid it, somebody works on the estate, a record would not fit into the store,
    /// or the store fails.
    pub async fn push(
        &self,
        state: &State,
        from: &str,
        by: &Principal,
        rules: PushRules,
    ) -> Result<usize, PushError> {
        let seal = Seal::Pushing(from.to_owned());
        let (header, goes_on) = match self.read_header_of_sealed().await? {
            None => (self.fresh_header(), false),
            Some(header) if header.sealed.as_ref() == Some(&seal) => (header, true),
            Some(header) => match (&header.sealed, rules) {
                (Some(Seal::Pushing(_)), PushRules::Forced) => (header, true),
                _ => (self.unsealed(header)?, false),
            },
        };
        if let Some(plan) = header.under_way.first() {
            return Err(PushError::UnderWay { plan: plan.clone() });
        }
        let recorded = self.recorded().await?;
        if !goes_on && rules == PushRules::Checked {
            check_rules(state, &header, &recorded.reading.state)?;
        }
        let run = RunId::new(&*self.random);
        let written_by = WrittenBy { transaction: None, run: run.clone(), principal: by.clone() };
        // What cannot be recorded is refused before anything is changed.
        let writes = self.writes(state, &recorded, &written_by)?;
        let lineage = state.lineage.clone().unwrap_or_else(|| header.lineage.clone());
        let raised = header.version.is_absent() || header.serial < state.serial;
        let serial = if raised { state.serial } else { header.serial + 1 };
        if !goes_on
            && writes.is_empty()
            && lineage == header.lineage
            && header.serial == state.serial
        {
            return Ok(0);
        }
        self.note_push(&run, from, by).await?;
        let header = match header.sealed.as_ref() == Some(&seal) {
            true => header,
            false => self.set_seal(header, Some(seal)).await?,
        };
        stream::iter(&writes)
            .map(|write| self.carry_out(write))
            .buffer_unordered(PARALLELISM)
            .try_collect::<()>()
            .await?;
        let now = self.recorded().await?;
        if let Some(left) = self.writes(state, &now, &written_by)?.into_iter().next() {
            let place = self.location();
            return Err(TakeOverError::Different { key: left.key, place }.into());
        }
        self.set_seal(EstateHeader { lineage, serial, ..header }, None).await?;
        Ok(writes.len())
    }

    async fn recorded(&self) -> Result<Recorded, PushError> {
        let records: Vec<(Key, Record)> = self.store.get_all(&self.keys.records()).await?;
        let reading = self.assemble(None, records.clone())?;
        Ok(Recorded { records: records.into_iter().collect(), reading })
    }

    /// What has to be written so that the records say what the state says.
    fn writes(
        &self,
        state: &State,
        recorded: &Recorded,
        by: &WrittenBy,
    ) -> Result<Vec<Write>, PushError> {
        let mut writes = Vec::new();
        let gone = InstanceState::default();
        let known = recorded.reading.records.keys();
        let known = known.filter(|address| !state.instances.contains_key(*address));
        // A record whose object was moved away says nothing, and is cleared with the others.
        let known = known.map(|address| (address, &gone));
        let wanted = state.instances.iter().map(|(address, instance)| (address, &**instance));
        for (address, wanted) in wanted.chain(known) {
            writes.extend(self.instance_write(address, wanted, recorded, by)?);
        }
        for (name, output) in &state.outputs {
            let before = recorded.reading.state.outputs.get(name);
            let same = before.is_some_and(|before| {
                before.value.unmark_deep() == output.value.unmark_deep()
                    && before.value.deep_marks().is_sensitive()
                        == output.value.deep_marks().is_sensitive()
            });
            if same {
                continue;
            }
            let (key, body) = self.output_body(name, &output.value, by)?;
            writes.push(Write { expected: recorded.version(&key), key, body: Some(body) });
        }
        let outputs = recorded.reading.state.outputs.keys();
        for name in outputs.filter(|name| !state.outputs.contains_key(*name)) {
            let key = self.keys.output(name)?;
            writes.push(Write { expected: recorded.version(&key), key, body: None });
        }
        Ok(writes)
    }

    fn instance_write(
        &self,
        address: &ResourceInstance,
        wanted: &InstanceState,
        recorded: &Recorded,
        by: &WrittenBy,
    ) -> Result<Option<Write>, PushError> {
        let key = self.keys.instance(address)?;
        let before = recorded.reading.state.instances.get(address);
        let wanted = protected(wanted, before);
        let facts = recorded.reading.records.get(address);
        let is_void = facts.is_some_and(|facts| facts.is_void());
        let absent = Arc::new(InstanceState::default());
        if !is_void && same_objects(before.unwrap_or(&absent), &wanted) {
            return Ok(None);
        }
        let mut body = self.shell(address, by.clone());
        if let Some(record) = recorded.records.get(&key) {
            let InstanceBody { kind, moved_from, doubt, unknown, .. } = decode(&key, &record.body)?;
            body = InstanceBody { kind, moved_from, doubt, unknown, ..body };
        }
        self.put_objects(&key, &mut body, &wanted)?;
        let bytes = encode(&key, &body)?;
        self.store.check_claim_size(&key, &bytes)?;
        Ok(Some(Write { expected: recorded.version(&key), key, body: Some(bytes) }))
    }

    async fn carry_out(&self, write: &Write) -> Result<(), PushError> {
        let Write { key, expected, body } = write;
        let Some(body) = body else {
            self.store.delete(key, expected).await?;
            return Ok(());
        };
        let written = match self.keys.kind(key) {
            Some(crate::record::key::KeyKind::Output) => {
                swap(&*self.store, key, body.clone(), expected).await?
            }
            _ => swap_instance(&*self.store, key, body.clone(), expected).await?,
        };
        match written {
            Swapped::Written(_) => Ok(()),
            Swapped::Lost(_) => {
                Err(TakeOverError::Different { key: key.clone(), place: self.location() }.into())
            }
        }
    }

    async fn note_push(&self, run: &RunId, from: &str, by: &Principal) -> Result<(), PushError> {
        let key = self.keys.journal(run, 1)?;
        let body = DecisionBody {
            format: FORMAT,
            write_id: WriteId::new(&*self.random),
            run: run.clone(),
            principal: by.clone(),
            decided: self.clock.seconds(),
            address: String::new(),
            decision: Decided::PushState(from.to_owned()),
            unknown: UnknownFields::new(),
        };
        self.put_journal(&key, encode(&key, &body)?).await?;
        Ok(())
    }
}

/// All records as they are, and what they say.
struct Recorded {
    records: BTreeMap<Key, Record>,
    reading: EstateReading,
}

impl Recorded {
    fn version(&self, key: &Key) -> Version {
        self.records.get(key).map_or_else(Version::absent, |record| record.version.clone())
    }
}

/// The same objects, forbidden to be deleted where they are so in the records: a state file cannot say it.
fn protected(wanted: &InstanceState, before: Option<&Arc<InstanceState>>) -> InstanceState {
    let mut wanted = wanted.clone();
    let Some(before) = before else { return wanted };
    if let (Some(object), Some(before)) = (&mut wanted.current, &before.current) {
        object.prevent_destroy |= before.prevent_destroy;
    }
    for (key, object) in &mut wanted.deposed {
        object.prevent_destroy |= before.deposed.get(key).is_some_and(|b| b.prevent_destroy);
    }
    wanted
}

/// Whether both consist of the same objects, however their attributes are laid out.
fn same_objects(a: &InstanceState, b: &InstanceState) -> bool {
    let same_deposed = a.deposed.len() == b.deposed.len()
        && a.deposed.iter().zip(&b.deposed).all(|(a, b)| a.0 == b.0 && same_object(a.1, b.1));
    same_deposed
        && match (&a.current, &b.current) {
            (None, None) => true,
            (Some(a), Some(b)) => same_object(a, b),
            _ => false,
        }
}

fn same_object(a: &StoredObject, b: &StoredObject) -> bool {
    let identity = match (&a.identity, &b.identity) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            a.schema_version == b.schema_version && same_json(&a.attributes, &b.attributes)
        }
        _ => false,
    };
    let laid_out = StoredObject {
        attributes: a.attributes.clone(),
        identity: a.identity.clone(),
        ..b.clone()
    };
    identity && same_json(&a.attributes, &b.attributes) && *a == laid_out
}

fn same_json(a: &str, b: &str) -> bool {
    let value = serde_json::from_str::<serde_json::Value>;
    a == b || value(a).ok().is_some_and(|a| value(b).is_ok_and(|b| a == b))
}

/// The rules of Terraform: a state goes over the one that it was made of, and over nothing newer.
fn check_rules(state: &State, header: &EstateHeader, recorded: &State) -> Result<(), PushError> {
    if recorded.is_empty() {
        return Ok(());
    }
    if let Some(given) = state.lineage.as_ref().filter(|given| **given != header.lineage) {
        let (given, recorded) = (given.0.to_string(), header.lineage.0.to_string());
        return Err(PushError::OtherLineage { given, recorded });
    }
    if state.serial < header.serial {
        return Err(PushError::Older { given: state.serial, recorded: header.serial });
    }
    match state.serial == header.serial && !same(state, recorded) {
        true => Err(PushError::SameSerial { serial: state.serial }),
        false => Ok(()),
    }
}

fn same(state: &State, recorded: &State) -> bool {
    let objects = state.instances.len() == recorded.instances.len()
        && state.instances.iter().all(|(address, instance)| {
            let before = recorded.instances.get(address);
            before.is_some_and(|b| same_objects(b, &protected(instance, Some(b))))
        });
    objects
        && state.outputs.len() == recorded.outputs.len()
        && state.outputs.iter().all(|(name, output)| {
            let before = recorded.outputs.get(name);
            before.is_some_and(|b| b.value.unmark_deep() == output.value.unmark_deep())
        })
}
