use super::{Body, UnknownFields};
use crate::identifiers::{PlanId, WriteId};
use serde::{Deserialize, Serialize};

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
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

impl Body for EstateBody {
    fn format(&self) -> u32 {
        self.format
    }
}
