//! Where journals are kept: what an attempt did, or a person decided, written once.

use super::{Estate, Swapped, swap};
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use records::{ArtifactStore, Key, PutMode, StoreError, Version};
use std::sync::Arc;

/// How many are read at once.
const PARALLELISM: usize = 16;

/// Where journals are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Journals {
    /// With the records.
    #[default]
    Records,
    /// With plans and bundles.
    Artifacts,
}

impl Estate {
    fn beside(&self) -> Option<&Arc<dyn ArtifactStore>> {
        self.artifacts.as_ref().filter(|_| self.journals == Journals::Artifacts)
    }

    /// Writes a journal, if there is none under its key yet; answers whether there was none.
    pub(crate) async fn put_journal(&self, key: &Key, body: Bytes) -> Result<bool, StoreError> {
        match self.beside() {
            None => {
                let swapped = swap(&*self.store, key, body, &Version::absent()).await?;
                Ok(matches!(swapped, Swapped::Written(_)))
            }
            Some(artifacts) => match artifacts.put(key, body, PutMode::Create).await {
                Ok(()) => Ok(true),
                Err(StoreError::AlreadyExists { .. }) => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// All journals, by their keys. Some may be records although new ones are not.
    pub(super) async fn journals(&self) -> Result<Vec<(Key, Bytes)>, StoreError> {
        let records = self.store.get_all(&self.keys.journals()).await?.into_iter();
        let mut journals = self.journals_beside().await?;
        journals.extend(records.map(|(key, record)| (key, record.body)));
        Ok(journals)
    }

    /// Those that are among the artifacts.
    pub(super) async fn journals_beside(&self) -> Result<Vec<(Key, Bytes)>, StoreError> {
        let Some(artifacts) = self.beside() else { return Ok(Vec::new()) };
        let entries = artifacts.list(&self.keys.journals()).await?;
        let read = stream::iter(entries).map(|entry| async move {
            let body = artifacts.get(&entry.key).await?;
            // What has expired since it was listed is left out.
            Ok::<_, StoreError>(body.map(|body| (entry.key, body)))
        });
        let read: Vec<_> = read.buffered(PARALLELISM).try_collect().await?;
        Ok(read.into_iter().flatten().collect())
    }
}
