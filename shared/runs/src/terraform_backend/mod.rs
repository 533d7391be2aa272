//! The state that Terraform keeps in a backend, read and never written.

mod http;
mod s3;
mod settings;

pub use settings::BackendSettings;

use crate::stores::StoreSurroundings;
use bytes::Bytes;
use providers::https::{Https, HttpsError};
use records::StoreError;
use std::sync::Arc;
use std::time::Duration;

/// The state in a backend cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no reader for this kind.
    #[error("the backend {0:?} is not read: only \"s3\" and \"http\" are")]
    Unknown(String),
    /// A setting is missing, of another type, or one that is not known here.
    #[error("{name:?} of the backend {backend:?} {problem}")]
    Setting {
        /// The kind of backend.
        backend: String,
        /// The setting.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// What an earlier `terraform init` has left cannot be read.
    #[error("what \"terraform init\" has noted of the backend cannot be read: {0}")]
    Initialised(#[source] serde_json::Error),
    /// The bucket cannot be reached.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No answer came.
    #[error(transparent)]
    Https(#[from] HttpsError),
    /// The server refused.
    #[error("{place} could not be read: {problem}")]
    Refused {
        /// Where the state is.
        place: String,
        /// What was answered.
        problem: String,
    },
}

/// A state as it is in its backend.
#[derive(Clone, Debug)]
pub struct BackendState {
    /// Where it is, for messages.
    pub place: String,
    /// The file; `None` where there is none.
    pub file: Option<Bytes>,
}

/// Reads states from backends.
#[derive(Clone)]
pub struct BackendReader {
    /// What buckets are reached with.
    pub surroundings: Arc<dyn StoreSurroundings>,
    /// What other hosts are reached with.
    pub https: Arc<dyn Https>,
}

impl BackendReader {
    /// The kinds of backends that are read.
    pub const KINDS: [&'static str; 2] = ["http", "s3"];
    /// How long to wait for an answer.
    pub const PATIENCE: Duration = Duration::from_secs(60);

    /// The state of a workspace.
    ///
    /// # Errors
    /// Where a setting cannot be used, or the backend cannot be read.
    pub async fn read(
        &self,
        settings: &BackendSettings,
        workspace: &str,
    ) -> Result<BackendState, BackendError> {
        match &*settings.kind {
            "s3" => s3::read(settings, workspace, &*self.surroundings).await,
            "http" => http::read(settings, workspace, &*self.https).await,
            other => Err(BackendError::Unknown(other.to_owned())),
        }
    }
}
