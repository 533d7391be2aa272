//! Secrets in files.

use super::owner_file;
use crate::secrets::{Secret, SecretError, Secrets};
use async_trait::async_trait;
use records::Key;
use std::path::PathBuf;

/// Secrets of which each is a file of its name in a folder.
#[derive(Clone, Debug)]
pub struct SecretFiles {
    folder: PathBuf,
}

impl SecretFiles {
    /// In this folder.
    pub fn of(folder: PathBuf) -> SecretFiles {
        SecretFiles { folder }
    }
}

#[async_trait]
impl Secrets for SecretFiles {
    async fn read(&self, name: &str) -> Result<Secret, SecretError> {
        let refused = |problem: String| SecretError { name: name.to_owned(), problem };
        // A name with parts that lead elsewhere is no key.
        let key = Key::new(name).map_err(|error| refused(error.to_string()))?;
        let path = self.folder.join(key.as_str());
        let text = owner_file::read(&path).map_err(|error| refused(error.to_string()))?;
        let missing = || {
            let path = path.display();
            refused(format!(
                "there is no file {path}; write the secret into it, for its owner alone (mode 600)"
            ))
        };
        text.map(Secret::new).ok_or_else(missing)
    }
}
