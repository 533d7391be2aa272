use super::{Estate, EstateError, Swapped, swap};
use crate::identifiers::WriteId;
use crate::record::body::{FORMAT, OutputBody, UnknownFields, WrittenBy, decode, encode};
use crate::state::OutputState;
use records::Version;
use std::sync::Arc;
use values::Value;

/// How often others may be first before we give up.
const ATTEMPTS: u32 = 8;

impl Estate {
    /// Writes an output over whatever is there: outputs are derived, and the last writer has seen
    /// all records.
    pub(crate) async fn write_output(
        &self,
        name: &Arc<str>,
        value: &Value,
        known: &Version,
        written_by: &WrittenBy,
    ) -> Result<OutputState, EstateError> {
        let key = self.keys.output(name)?;
        let (json, ty) = OutputBody::value_and_type(&key, value)?;
        let sensitive = value.deep_marks().is_sensitive();
        let mut expected = known.clone();
        let mut unknown = UnknownFields::new();
        for _ in 0..ATTEMPTS {
            let body = OutputBody {
                format: FORMAT,
                name: name.to_string(),
                write_id: WriteId::new(&*self.random),
                written_by: written_by.clone(),
                value: json.clone(),
                ty: ty.clone(),
                sensitive,
                unknown: unknown.clone(),
            };
            match swap(&*self.store, &key, encode(&key, &body)?, &expected).await? {
                Swapped::Written(version) => {
                    return Ok(OutputState { value: value.clone(), version: Some(version) });
                }
                Swapped::Lost(None) => expected = Version::absent(),
                Swapped::Lost(Some(record)) => {
                    unknown = decode::<OutputBody>(&key, &record.body)?.unknown;
                    expected = record.version;
                }
            }
        }
        Err(EstateError::Contended { key, attempts: ATTEMPTS })
    }

    /// Removes an output.
    pub(crate) async fn delete_output(
        &self,
        name: &str,
        known: &Version,
    ) -> Result<(), EstateError> {
        let key = self.keys.output(name)?;
        let mut expected = known.clone();
        for _ in 0..ATTEMPTS {
            match self.store.delete(&key, &expected).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_conflict() || error.leaves_doubt() => {
                    match self.store.get(&key).await? {
                        None => return Ok(()),
                        Some(record) => expected = record.version,
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(EstateError::Contended { key, attempts: ATTEMPTS })
    }
}
