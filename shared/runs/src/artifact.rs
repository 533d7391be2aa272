//! Contents that functions hand on by reference: stored once, by their digest, and verified when they are read.

use bytes::Bytes;
use records::{ArtifactStore, Key, PutMode, StoreError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where a content is, and what it has to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactReference {
    /// Its key in the store of artifacts.
    pub key: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
}

/// An artifact cannot be stored or believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is gone.
    #[error(
        "there is no artifact {key} in {location}: artifacts expire, and this one was due or was removed; start a new run"
    )]
    Absent {
        /// Its key.
        key: String,
        /// Where it was looked for.
        location: String,
    },
    /// It is not what was stored.
    #[error(
        "the artifact {key} in {location} has the digest {found} instead of {expected}: somebody else wrote it, and it \
         is not used; look who may write there, and start a new run"
    )]
    Altered {
        /// Its key.
        key: String,
        /// Where it is.
        location: String,
        /// What was expected.
        expected: String,
        /// What it has.
        found: String,
    },
}

/// SHA-256 in hexadecimal.
pub fn digest(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// Stores a content under a key that no other content may take.
///
/// # Errors
/// Where the store fails, or has another content under the key.
pub async fn put(
    store: &dyn ArtifactStore,
    key: &str,
    content: Bytes,
) -> Result<ArtifactReference, ArtifactError> {
    let reference = ArtifactReference { key: key.to_owned(), digest: digest(&content) };
    store.put(&Key::new(key)?, content, PutMode::Create).await?;
    Ok(reference)
}

/// Stores a content under its own digest, below a folder.
///
/// # Errors
/// Where the store fails.
pub async fn put_by_digest(
    store: &dyn ArtifactStore,
    folder: &str,
    content: Bytes,
) -> Result<ArtifactReference, ArtifactError> {
    let key = format!("{folder}/{}", digest(&content));
    put(store, &key, content).await
}

/// Reads a content, and believes it only if it is what the reference says.
///
/// # Errors
/// Where it is gone or altered, or the store fails.
pub async fn get(
    store: &dyn ArtifactStore,
    reference: &ArtifactReference,
) -> Result<Bytes, ArtifactError> {
    let ArtifactReference { key, digest: expected } = reference;
    let absent = || ArtifactError::Absent { key: key.clone(), location: store.location() };
    let content = store.get(&Key::new(key.as_str())?).await?.ok_or_else(absent)?;
    match digest(&content) {
        found if found == *expected => Ok(content),
        found => Err(ArtifactError::Altered {
            key: key.clone(),
            location: store.location(),
            expected: expected.clone(),
            found,
        }),
    }
}
