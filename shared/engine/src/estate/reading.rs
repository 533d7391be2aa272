use super::checks::read_checks;
use super::outputs::read_output;
use super::{Estate, EstateError, EstateHeader};
use crate::object::DeposedKey;
use crate::record::body::{
    BodyError, Claim, Doubt, InstanceBody, MovedFrom, RecordKind, SharedAddresses, UnknownFields,
    WrittenBy, decode,
};
use crate::record::key::KeyKind;
use crate::state::{InstanceState, Revision, State};
use records::{Key, Record, Version};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceInstance;

/// All that the records of an estate say, read at one time.
#[derive(Clone, Debug, Default)]
pub struct EstateReading {
    /// Lineage, serial and transactions under way; `None` before first contact.
    pub header: Option<EstateHeader>,
    /// Instances and outputs; shells, tombstones and moved records count as absent.
    pub state: Arc<State>,
    /// What every record says beside its objects, shells and tombstones included.
    pub records: BTreeMap<ResourceInstance, RecordFacts>,
    /// Results that could not be recorded in their place.
    pub strays: Vec<StrayFacts>,
    /// Records that no snapshot had, where one is kept.
    pub fetched: usize,
}

/// What a record says beside its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordFacts {
    /// The store's version.
    pub version: Version,
    /// Whether it stands for an instance.
    pub kind: RecordKind,
    /// Its revision; empty where it counts as absent.
    pub revision: Revision,
    /// Who wrote it.
    pub written_by: WrittenBy,
    /// When, seconds since the epoch.
    pub written_at: i64,
    /// The transaction that works on it.
    pub claim: Option<Claim>,
    /// An object that may exist beside what is recorded.
    pub doubt: Option<Doubt>,
    /// Where the object was before.
    pub moved_from: Option<MovedFrom>,
    pub(crate) unknown: UnknownFields,
}

/// A result that could not be recorded in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct StrayFacts {
    /// The instance it belongs to.
    pub address: ResourceInstance,
    /// Where it is.
    pub key: Key,
    /// Who wrote it.
    pub written_by: WrittenBy,
}

impl RecordFacts {
    /// Whether its object was moved away, and only the record's removal is still to come.
    pub(crate) fn is_void(&self) -> bool {
        self.kind == RecordKind::Live && self.revision.0.is_empty()
    }
}

impl EstateReading {
    /// Version and revision of an instance as of this reading; absent and empty where there is none.
    pub fn version_and_revision(&self, address: &ResourceInstance) -> (Version, Revision) {
        self.records.get(address).map_or_else(
            || (Version::absent(), Revision::default()),
            |facts| (facts.version.clone(), facts.revision.clone()),
        )
    }
}

impl Estate {
    /// Reads everything: the estate's own record, then all others in bulk.
    ///
    /// # Errors
    /// Where the store fails or any record cannot be read: a state with holes would plan to make again
    /// what exists.
    pub async fn read(&self) -> Result<EstateReading, EstateError> {
        let header = self.read_header().await?;
        let bodies = self.bodies().await?;
        let mut reading = self.assemble(header, bodies.records)?;
        reading.fetched = bodies.fetched;
        Ok(reading)
    }

    pub(super) fn assemble(
        &self,
        header: Option<EstateHeader>,
        bodies: Vec<(Key, Record)>,
    ) -> Result<EstateReading, EstateError> {
        let mut shared = SharedAddresses::default();
        let mut reading = EstateReading::default();
        let mut state = State {
            lineage: header.as_ref().map(|h| h.lineage.clone()),
            serial: header.as_ref().map_or(0, |h| h.serial),
            ..State::default()
        };
        reading.header = header;
        for (key, record) in bodies {
            match self.keys.kind(&key) {
                Some(KeyKind::Instance) => {
                    let (address, facts, instance) =
                        self.read_instance(&key, record, &mut shared)?;
                    if let Some(instance) = instance {
                        state.instances.insert(address.clone(), Arc::new(instance));
                    }
                    reading.records.insert(address, facts);
                }
                Some(KeyKind::Output) => {
                    let (name, output) = read_output(&key, record)?;
                    if self.keys.output(&name)? != key {
                        return Err(misplaced(&key).into());
                    }
                    state.outputs.insert(name, output);
                }
                Some(KeyKind::Checks) => state.checks = read_checks(&key, record)?,
                Some(KeyKind::Stray) => {
                    let body = decode::<InstanceBody>(&key, &record.body)?;
                    let address = parse_address(&key, &body.address)?;
                    let written_by = body.written_by;
                    reading.strays.push(StrayFacts { address, key, written_by });
                }
                None => {
                    return Err(BodyError::damaged(
                        &key,
                        "no record of an estate has such a key; a newer version may have written it",
                    )
                    .into());
                }
            }
        }
        void_moved_sources(&mut reading.records, &mut state);
        reading.state = Arc::new(state);
        Ok(reading)
    }

    fn read_instance(
        &self,
        key: &Key,
        record: Record,
        shared: &mut SharedAddresses,
    ) -> Result<(ResourceInstance, RecordFacts, Option<InstanceState>), EstateError> {
        let body = decode::<InstanceBody>(key, &record.body)?;
        let address = parse_address(key, &body.address)?;
        if self.keys.instance(&address)? != *key {
            return Err(misplaced(key).into());
        }
        let live = body.kind == RecordKind::Live;
        let facts = RecordFacts {
            version: record.version.clone(),
            kind: body.kind,
            revision: match live {
                true => Revision(body.revision.into()),
                false => Revision::default(),
            },
            written_by: body.written_by,
            written_at: body.written_at,
            claim: body.claim,
            doubt: body.doubt,
            moved_from: body.moved_from,
            unknown: body.unknown,
        };
        if !live {
            return Ok((address, facts, None));
        }
        let mut instance = InstanceState {
            version: Some(record.version),
            revision: facts.revision.clone(),
            ..InstanceState::default()
        };
        if let Some(object) = body.object {
            instance.current = Some(object.into_object_sharing(key, shared)?);
        }
        for (deposed, object) in body.deposed {
            let object = object.into_object_sharing(key, shared)?;
            instance.deposed.insert(DeposedKey::from_stored(&deposed), object);
        }
        Ok((address, facts, Some(instance)))
    }
}

/// A move writes its target first; if it dies there, the source must not be seen as a second object,
/// also not once the target has been deleted.
fn void_moved_sources(records: &mut BTreeMap<ResourceInstance, RecordFacts>, state: &mut State) {
    let moved: Vec<MovedFrom> =
        records.values().filter_map(|facts| facts.moved_from.clone()).collect();
    for MovedFrom { address, revision } in moved {
        let Ok(source) = address.parse::<ResourceInstance>() else { continue };
        if let Some(facts) = records.get_mut(&source)
            && !revision.is_empty()
            && *facts.revision.0 == *revision
        {
            facts.revision = Revision::default();
            state.instances.remove(&source);
        }
    }
}

pub(crate) fn parse_address(key: &Key, text: &str) -> Result<ResourceInstance, BodyError> {
    text.parse()
        .map_err(|_| BodyError::damaged(key, "what it calls its address is no resource instance"))
}

fn misplaced(key: &Key) -> BodyError {
    BodyError::damaged(key, "its body belongs to another key; it was copied or renamed by hand")
}
