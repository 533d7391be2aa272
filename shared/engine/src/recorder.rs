//! Where apply puts what it learns, the moment it learns it.

use crate::changes::Action;
use crate::object::DeposedKey;
use crate::state::InstanceState;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::ResourceInstance;

/// A result could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("{summary}")]
pub struct RecordError {
    /// One line.
    pub summary: String,
    /// What happened, what it endangers, and what mends it.
    pub detail: String,
}

/// Records of one estate, as apply writes them. Implementations write by compare-and-swap and are
/// called from many tasks at once, for different instances.
#[async_trait]
pub trait Recorder: Send + Sync {
    /// A provider is about to be asked to change this object.
    async fn begin(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        action: Action,
    ) -> Result<(), RecordError>;

    /// An object is recorded at `address` from now on, and at `from` no more. Killed half way, it
    /// leaves records in which the object is recorded once.
    async fn write_moved(
        &self,
        from: &ResourceInstance,
        address: &ResourceInstance,
        state: &InstanceState,
    ) -> Result<(), RecordError>;

    /// What the instance consists of from now on; neither current nor deposed objects: it is gone.
    /// When this returns, the record is durable. `state.version` and `state.revision` are ignored:
    /// the recorder knows which version it wrote or read last.
    async fn write(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
    ) -> Result<(), RecordError>;

    /// What a read of the world, or the configuration alone, says of an instance that no action
    /// changes: written from the version that the plan read, keeping the revision. A conflict is
    /// ignored, since whoever wrote meanwhile knows better.
    async fn refresh(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
    ) -> Result<(), RecordError>;

    /// The values of all root outputs from now on; those not named are gone.
    async fn write_outputs(&self, outputs: &BTreeMap<Arc<str>, Value>) -> Result<(), RecordError>;
}
