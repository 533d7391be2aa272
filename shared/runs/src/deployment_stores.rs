//! The stores of a deployment that belong to no estate: states of runs, settings, provider packages.
//!
//! Each is below a prefix of its own beside `records/` and `artifacts/`, so that a role is let into one and not into another, and
//! so that the expiry of artifacts reaches none of them. In a bucket that is the bucket of the artifacts; with
//! directories they are folders of the project's.

use crate::project::{ArtifactsTable, Project, S3Table, StoreTable};
use crate::stores::{StoreSurroundings, StoresError, connect};
use records::s3::{S3Artifacts, S3Store};
use records::{ArtifactStore, DirectoryArtifacts, DirectoryStore, Opening, RecordStore};
use std::path::Path;
use std::sync::Arc;

/// The prefix of the states of runs.
const RUNS: &str = "runs";
/// The prefix of what administrators put there.
const SETTINGS: &str = "settings";
/// The prefix of provider packages, laid out as a filesystem mirror.
const PROVIDERS: &str = "providers";

/// Where a deployment's own stores are.
pub struct DeploymentStores<'a> {
    /// The stores that the deployment was made with.
    pub project: &'a Project,
    /// The folder that takes them where the store is a directory.
    pub root: &'a Path,
    /// What the process's environment gives to stores.
    pub surroundings: &'a dyn StoreSurroundings,
}

impl DeploymentStores<'_> {
    fn bucket(&self) -> Option<&S3Table> {
        match (&self.project.artifacts, &self.project.store) {
            (Some(ArtifactsTable::S3(table)), _) | (None, StoreTable::S3(table)) => Some(table),
            _ => None,
        }
    }

    /// The states of runs, with the approvals.
    ///
    /// # Errors
    /// Where the store cannot be opened.
    pub async fn runs(&self) -> Result<Arc<dyn RecordStore>, StoresError> {
        Ok(match self.bucket() {
            Some(table) => {
                let connection = connect(table, RUNS, self.surroundings).await?;
                Arc::new(S3Store::new(connection)?)
            }
            None => Arc::new(DirectoryStore::open(self.root.join(RUNS), Opening::Create).await?),
        })
    }

    /// The settings of the deployment.
    ///
    /// # Errors
    /// Where the store cannot be opened.
    pub async fn settings(&self) -> Result<Arc<dyn ArtifactStore>, StoresError> {
        self.contents(SETTINGS).await
    }

    /// Packages of providers.
    ///
    /// # Errors
    /// Where the store cannot be opened.
    pub async fn providers(&self) -> Result<Arc<dyn ArtifactStore>, StoresError> {
        self.contents(PROVIDERS).await
    }

    async fn contents(&self, part: &str) -> Result<Arc<dyn ArtifactStore>, StoresError> {
        Ok(match self.bucket() {
            Some(table) => {
                let connection = connect(table, part, self.surroundings).await?;
                Arc::new(S3Artifacts::new(connection)?)
            }
            None => {
                Arc::new(DirectoryArtifacts::open(self.root.join(part), Opening::Create).await?)
            }
        })
    }
}
