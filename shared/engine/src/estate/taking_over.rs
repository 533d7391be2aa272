//! Taking over the state of another tool: sealed while the records are written, verified before it is opened.

use super::{Estate, EstateError, EstateHeader, Swapped, swap};
use crate::identifiers::{Principal, RunId};
use crate::record::body::{BodyError, Seal, WrittenBy, encode};
use crate::state::State;
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use records::{Key, StoreError, Version};
use std::collections::BTreeMap;

/// How many records are written at once.
const PARALLELISM: usize = 16;

/// A state cannot be taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeOverError {
    /// The estate has records of its own.
    #[error(
        "the estate {estate} in {place} holds records already, and they are not those of this state: nothing was \
         changed. Choose another name or store for what is taken over"
    )]
    Occupied {
        /// The estate.
        estate: String,
        /// The store.
        place: String,
    },
    /// A record is not as it was written.
    #[error(
        "the record {key} in {place} is not as it was written, so somebody else writes there. The estate stays sealed, \
         and the state is as it was: run the same command again once nobody does"
    )]
    Different {
        /// The record.
        key: Key,
        /// The store.
        place: String,
    },
    /// The records cannot be read or written.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for TakeOverError {
    fn from(error: StoreError) -> TakeOverError {
        TakeOverError::Estate(error.into())
    }
}
impl From<BodyError> for TakeOverError {
    fn from(error: BodyError) -> TakeOverError {
        TakeOverError::Estate(error.into())
    }
}

impl Estate {
    /// Records a state that was kept elsewhere, with its lineage and serial, in an estate that has no records. Killed
    /// anywhere, the estate stays sealed and the same call begins anew. How many records there are; `None` where this
    /// state was taken over before.
    ///
    /// # Errors
    /// Where the estate has records or somebody works on it, a record would not fit into the store, or the store fails.
    pub async fn take_over(
        &self,
        state: &State,
        from: &str,
        by: &Principal,
    ) -> Result<Option<usize>, TakeOverError> {
        let Some(header) = self.header_to_fill(state).await? else { return Ok(None) };
        // What cannot be recorded is refused before anything is changed.
        let bodies = self.bodies_of(state, by)?;
        let header = EstateHeader {
            lineage: state.lineage.clone().unwrap_or_else(|| header.lineage.clone()),
            serial: state.serial,
            ..header
        };
        let header = self.set_seal(header, Some(Seal::TakingOver(from.to_owned()))).await?;
        // Of an attempt before this one.
        self.remove_records(&self.keys.records()).await?;
        stream::iter(&bodies)
            .map(|(key, body)| async move {
                match swap(&*self.store, key, body.clone(), &Version::absent()).await? {
                    Swapped::Written(_) => Ok(()),
                    Swapped::Lost(_) => Err(self.not_as_written(key)),
                }
            })
            .buffer_unordered(PARALLELISM)
            .try_collect::<()>()
            .await?;
        self.verify_taken_over(&bodies).await?;
        self.set_seal(header, None).await?;
        Ok(Some(bodies.len()))
    }

    /// The estate's own record, which may be sealed by an attempt before this one; `None` where the state was taken
    /// over already.
    async fn header_to_fill(&self, state: &State) -> Result<Option<EstateHeader>, TakeOverError> {
        let occupied = || TakeOverError::Occupied {
            estate: self.name.to_string(),
            place: self.store.location(),
        };
        let header = match self.read_header_of_sealed().await? {
            Some(header) if matches!(header.sealed, Some(Seal::TakingOver(_))) => {
                return Ok(Some(header));
            }
            Some(header) => self.unsealed(header)?,
            None => self.fresh_header(),
        };
        let is_empty = self.store.list(&self.keys.records()).await?.is_empty();
        match is_empty && header.under_way.is_empty() {
            true => Ok(Some(header)),
            false if state.lineage.as_ref() == Some(&header.lineage) => Ok(None),
            false => Err(occupied()),
        }
    }

    fn bodies_of(
        &self,
        state: &State,
        by: &Principal,
    ) -> Result<BTreeMap<Key, Bytes>, TakeOverError> {
        let run = RunId::new(&*self.random);
        let written_by = WrittenBy { transaction: None, run, principal: by.clone() };
        let mut bodies = BTreeMap::new();
        for (address, instance) in &state.instances {
            let key = self.keys.instance(address)?;
            let mut body = self.shell(address, written_by.clone());
            self.put_objects(&key, &mut body, instance)?;
            let bytes = encode(&key, &body)?;
            self.store.check_claim_size(&key, &bytes)?;
            bodies.insert(key, bytes);
        }
        for (name, output) in &state.outputs {
            let (key, body) = self.output_body(name, &output.value, &written_by)?;
            bodies.insert(key, body);
        }
        Ok(bodies)
    }

    async fn verify_taken_over(&self, bodies: &BTreeMap<Key, Bytes>) -> Result<(), TakeOverError> {
        let found = self.store.get_all(&self.keys.records()).await?;
        let mut found: BTreeMap<Key, Bytes> =
            found.into_iter().map(|(key, record)| (key, record.body)).collect();
        for (key, body) in bodies {
            if found.remove(key).as_ref() != Some(body) {
                return Err(self.not_as_written(key));
            }
        }
        match found.into_keys().next() {
            None => Ok(()),
            Some(key) => Err(self.not_as_written(&key)),
        }
    }

    fn not_as_written(&self, key: &Key) -> TakeOverError {
        TakeOverError::Different { key: key.clone(), place: self.store.location() }
    }
}
