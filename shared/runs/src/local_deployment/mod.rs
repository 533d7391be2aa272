//! A deployment on one machine: what the stack has in the cloud, in a folder.
//!
//! ```text
//! deployment.toml   who may do what, as the deployed bundle has it; no repository's file
//! secrets/NAME      what deployment.toml names as secrets
//! tokens/NAME       what proves that a request is a principal's
//! providers/        packages, as `plumb providers mirror` lays them out
//! key               the key that authenticates plans
//! runs/, executions/, scratch/
//! ```
//!
//! Secrets and tokens are for their owner alone: a file that others can read is refused.

mod access_tokens;
mod clone_archives;
mod handover;
mod mirror_folder;
mod owner_file;
mod secret_files;

pub use access_tokens::{AccessTokens, NewToken};
pub use clone_archives::CloneArchives;
pub use handover::Handover;
pub use owner_file::OwnerFileError;
pub use secret_files::SecretFiles;

pub(crate) use mirror_folder::MirrorFolder;

use crate::deployment;
use crate::project::Project;
use std::path::{Path, PathBuf};

/// Where such a deployment is.
#[derive(Clone, Debug)]
pub struct LocalDeployment {
    /// The project whose store, key and times it goes by. Its paths do not depend on where the process is.
    pub project: Project,
    /// The folder.
    pub folder: PathBuf,
}

impl LocalDeployment {
    /// The file that says who may do what.
    pub fn settings(&self) -> PathBuf {
        self.folder.join(deployment::OBJECT)
    }

    /// The folder of the secrets.
    pub fn secrets(&self) -> SecretFiles {
        SecretFiles::of(self.folder.join("secrets"))
    }

    /// The folder of the tokens.
    pub fn tokens(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    /// The folder of what may be gone after any step.
    pub fn scratch(&self) -> PathBuf {
        self.folder.join("scratch")
    }

    /// The folder of the executions.
    pub fn executions(&self) -> PathBuf {
        self.folder.join("executions")
    }

    pub(crate) fn providers(&self) -> MirrorFolder {
        MirrorFolder::of(self.folder.join("providers"))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.folder
    }
}
