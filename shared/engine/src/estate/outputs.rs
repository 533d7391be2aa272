use super::{Estate, EstateError, Swapped, swap};
use crate::hashing::HashMap;
use crate::record::body::{OutputBody, WrittenBy, decode};
use crate::state::OutputState;
use records::{Key, Record, Version};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;

/// How often a delete is sent whose answers are lost.
const ATTEMPTS: u32 = 8;

/// What is recorded of the root outputs, each with the version that was read.
pub(crate) type Outputs = BTreeMap<Arc<str>, OutputState>;

impl Estate {
    /// The root outputs: one LIST, and one request for each.
    ///
    /// # Errors
    /// Where the store fails or one cannot be read.
    pub async fn outputs(&self) -> Result<BTreeMap<Arc<str>, OutputState>, EstateError> {
        self.read_outputs(&Outputs::new()).await
    }

    /// The outputs as they are now: one LIST, and those that are not known yet.
    pub(crate) async fn read_outputs(&self, known: &Outputs) -> Result<Outputs, EstateError> {
        let keys = known.keys().map(|name| Ok((self.keys.output(name)?, name)));
        let keys = keys.collect::<Result<HashMap<Key, &Arc<str>>, EstateError>>()?;
        let mut outputs = Outputs::new();
        for entry in self.store.list(&self.keys.outputs()).await? {
            let known = keys.get(&entry.key).and_then(|name| known.get_key_value(*name));
            let same = known.filter(|(_, output)| output.version.as_ref() == Some(&entry.version));
            if let Some((name, output)) = same {
                outputs.insert(name.clone(), output.clone());
                continue;
            }
            // What was deleted since it was listed is left out.
            if let Some(record) = self.store.get(&entry.key).await? {
                let (name, output) = read_output(&entry.key, record)?;
                outputs.insert(name, output);
            }
        }
        Ok(outputs)
    }

    /// Writes an output from the version that is known; `Err` has what somebody else has written meanwhile.
    pub(crate) async fn write_output(
        &self,
        name: &Arc<str>,
        value: &Value,
        known: &Version,
        written_by: &WrittenBy,
    ) -> Result<Result<OutputState, Option<OutputState>>, EstateError> {
        let (key, body) = self.output_body(name, value, written_by)?;
        Ok(match swap(&*self.store, &key, body, known).await? {
            Swapped::Written(version) => {
                Ok(OutputState { value: value.clone(), version: Some(version) })
            }
            Swapped::Lost(None) => Err(None),
            Swapped::Lost(Some(record)) => Err(Some(read_output(&key, record)?.1)),
        })
    }

    /// Removes an output of the version that is known; `Err` has what somebody else has written meanwhile.
    pub(crate) async fn delete_output(
        &self,
        name: &str,
        known: &Version,
    ) -> Result<Result<(), OutputState>, EstateError> {
        let key = self.keys.output(name)?;
        for _ in 0..ATTEMPTS {
            match self.store.delete(&key, known).await {
                Ok(()) => return Ok(Ok(())),
                Err(error) if error.is_conflict() || error.leaves_doubt() => {
                    match self.store.get(&key).await? {
                        None => return Ok(Ok(())),
                        Some(record) if record.version == *known => {}
                        Some(record) => return Ok(Err(read_output(&key, record)?.1)),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(EstateError::Contended { key, attempts: ATTEMPTS })
    }
}

/// An output's name, and what its record says.
pub(super) fn read_output(
    key: &Key,
    record: Record,
) -> Result<(Arc<str>, OutputState), EstateError> {
    let body = decode::<OutputBody>(key, &record.body)?;
    let value = body.read_value(key)?;
    Ok((body.name.into(), OutputState { value, version: Some(record.version) }))
}
