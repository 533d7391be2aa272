use super::{Body, UnknownFields};
use crate::identifiers::{PlanId, WriteId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An estate as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstateBody {
    /// Format of this body.
    pub format: u32,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// The estate's identity.
    pub lineage: String,
    /// Raised when a transaction begins to write and when it ends.
    pub serial: u64,
    /// Transactions that have begun and not ended.
    #[serde(default)]
    pub under_way: Vec<PlanId>,
    /// Why nothing may be planned or changed here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<Seal>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

/// Why an estate is closed: it is in another place, or on its way from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seal {
    /// It has gone to this store.
    MovedTo(String),
    /// It is being copied from this store.
    ArrivingFrom(String),
    /// It is being taken over from a state that is kept here.
    TakingOver(String),
    /// This state file is being put in place of what it recorded.
    Pushing(String),
    /// It is being removed.
    Removing,
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seal::MovedTo(place) => write!(f, "its records were moved to {place}"),
            Seal::ArrivingFrom(place) => write!(f, "its records are being copied from {place}"),
            Seal::TakingOver(place) => write!(f, "its records are being taken over from {place}"),
            Seal::Removing => f.write_str("its records are being removed"),
            Seal::Pushing(file) => write!(f, "its records are being replaced by those of {file}"),
        }
    }
}

impl Body for EstateBody {
    fn format(&self) -> u32 {
        self.format
    }
}
