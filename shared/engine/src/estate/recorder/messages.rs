//! What is told where a result could not be recorded in its place.

use super::EstateError;
use crate::record::body::WrittenBy;
use crate::recorder::RecordError;
use records::{Key, StoreError};
use values::address::ResourceInstance;

/// A call was not made, since it could not be written down first.
pub(super) fn not_begun(address: &ResourceInstance, why: impl std::fmt::Display) -> RecordError {
    RecordError {
        summary: format!("The change of {address} was not begun"),
        detail: format!(
            "Before a provider is asked, the record says so, so that nothing is lost or made twice if this \
             process ends. That could not be written: {why}. Nothing was done to {address}; run `plumb plan` to \
             see what is left."
        ),
    }
}

pub(super) fn unwritable(address: &ResourceInstance, error: &EstateError) -> RecordError {
    RecordError {
        summary: format!("The result for {address} could not be recorded"),
        detail: error.to_string(),
    }
}

pub(super) fn recorded_in_part(address: &ResourceInstance, error: &StoreError) -> RecordError {
    RecordError {
        summary: format!("The result for {address} was recorded in part"),
        detail: format!(
            "{error}. Its identity and its provider's private data were kept, so that it is not lost; \
             its attributes were not. Keep large content out of the resource, then run `plumb apply`: the \
             instance is planned to be replaced."
        ),
    }
}

pub(super) fn conflict(
    address: &ResourceInstance,
    stray: &Key,
    by: Option<WrittenBy>,
) -> RecordError {
    let by = by.map_or_else(
        || "another writer".to_owned(),
        |w| format!("the run {} of {}", w.run, w.principal),
    );
    RecordError {
        summary: format!("The record of {address} was changed by another run"),
        detail: format!(
            "While this run was changing {address}, {by} wrote its record. That was left alone, and this run's \
             result was kept in {stray}. Plans that touch {address} are refused until `plumb adopt '{address}'` \
             takes the result over or `plumb dismiss '{address}'` drops it."
        ),
    }
}

pub(super) fn taken_over_while_provisioning(address: &ResourceInstance) -> RecordError {
    RecordError {
        summary: format!("The record of {address} was changed by another run"),
        detail: format!(
            "While the provisioners of {address} ran, this run's lease ended and another run took it over. The object \
             stays recorded as tainted, or as the other run has left it; run `plumb plan` to see what is left."
        ),
    }
}
