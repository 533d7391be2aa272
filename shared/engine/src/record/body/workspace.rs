use super::{Body, UnknownFields};
use crate::identifiers::WriteId;
use serde::{Deserialize, Serialize};

/// One workspace of an estate, listed beside its records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceBody {
    /// Format of this body.
    pub format: u32,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// Its name.
    pub name: String,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

impl Body for WorkspaceBody {
    fn format(&self) -> u32 {
        self.format
    }
}
