use super::{Body, UnknownFields, WrittenBy};
use crate::checks::CheckForm;
use crate::identifiers::WriteId;
use serde::{Deserialize, Serialize};

/// The record of what conditions came to in the last apply.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChecksBody {
    /// Format of this body.
    pub(crate) format: u32,
    /// Fresh at each write.
    pub(crate) write_id: WriteId,
    /// Who wrote it.
    pub(crate) written_by: WrittenBy,
    /// The results, as in Terraform's state.
    pub(crate) results: Vec<CheckForm>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub(crate) unknown: UnknownFields,
}

impl Body for ChecksBody {
    fn format(&self) -> u32 {
        self.format
    }
}
