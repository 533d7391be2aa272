use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;

/// Names another state: what `data "terraform_remote_state"` is configured with.
#[derive(Clone, Debug)]
pub struct RemoteStateRequest {
    /// Kind of backend: `local`, `s3`, ...
    pub backend: Arc<str>,
    /// Workspace.
    pub workspace: Arc<str>,
    /// The backend's configuration.
    pub config: Value,
}

/// Another state's outputs could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteStateError {
    /// No reader for this kind of backend.
    #[error("backend {backend:?} cannot be read")]
    UnknownBackend {
        /// The backend.
        backend: String,
    },
    /// The backend's configuration is wrong.
    #[error("invalid configuration of backend {backend:?}: {detail}")]
    Configuration {
        /// The backend.
        backend: String,
        /// What is wrong.
        detail: String,
    },
    /// There is no such state.
    #[error("no state was found in backend {backend:?}")]
    Absent {
        /// The backend.
        backend: String,
    },
    /// Reading failed.
    #[error("the state in backend {backend:?} could not be read: {detail}")]
    Read {
        /// The backend.
        backend: String,
        /// What went wrong.
        detail: String,
    },
}

/// Reads the outputs of other states and estates. Read-committed: each call reads anew.
#[async_trait]
pub trait RemoteStateReader: Send + Sync {
    /// The root outputs, sensitive ones marked.
    ///
    /// # Errors
    /// Where there is no such state or it cannot be read.
    async fn outputs(
        &self,
        request: RemoteStateRequest,
    ) -> Result<BTreeMap<Arc<str>, Value>, RemoteStateError>;
}
