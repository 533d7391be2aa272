//! What conditions came to in the last apply: one record, which nothing rests on.

use super::{Estate, EstateError, swap_instance};
use crate::checks::{CheckResults, from_forms, to_forms};
use crate::identifiers::WriteId;
use crate::record::body::{
    BodyError, ChecksBody, FORMAT, UnknownFields, WrittenBy, decode, encode,
};
use crate::state::ChecksState;
use records::{Key, Record, Version};

impl Estate {
    /// Writes results from the version that is known. Whoever has written meanwhile knows better.
    pub(crate) async fn write_checks(
        &self,
        results: &CheckResults,
        known: &Version,
        by: &WrittenBy,
    ) -> Result<(), EstateError> {
        let key = self.keys.checks()?;
        if results.is_empty() {
            return match self.store.delete(&key, known).await {
                Err(error) if !error.is_conflict() => Err(error.into()),
                _ => Ok(()),
            };
        }
        let body = ChecksBody {
            format: FORMAT,
            write_id: WriteId::new(&*self.random),
            written_by: by.clone(),
            results: to_forms(results),
            unknown: UnknownFields::new(),
        };
        swap_instance(&*self.store, &key, encode(&key, &body)?, known).await?;
        Ok(())
    }
}

/// What their record says.
pub(super) fn read_checks(key: &Key, record: Record) -> Result<ChecksState, EstateError> {
    let body = decode::<ChecksBody>(key, &record.body)?;
    let results = from_forms(body.results)
        .ok_or_else(|| BodyError::damaged(key, "an address in it cannot be read"))?;
    Ok(ChecksState { results, version: Some(record.version) })
}
