//! The snapshot: every body of an estate in one artifact, so that an unchanged estate is read in two requests.
//!
//! The list of the records is the truth, and the snapshot a cache: a body counts only where key and version
//! are those that are listed. It is safe to delete, and one that cannot be read is as good as none.

use super::{Estate, EstateReading};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures::stream::{StreamExt, TryStreamExt};
use records::{ArtifactStore, BulkRead, Key, PutMode, Record, StoreError, Version};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, Read, Write};

const FORMAT: u32 = 1;
/// Bodies that are asked for at once; a store bounds its own requests besides.
const AT_ONCE: usize = 64;
/// What a snapshot may unpack to, so that a damaged one cannot take all memory.
const LARGEST: u64 = 4 * 1024 * 1024 * 1024;

/// All bodies of an estate, in the order of a list, and how many of them no snapshot had.
pub(super) struct Bodies {
    pub(super) records: Vec<(Key, Record)>,
    pub(super) fetched: usize,
}

#[derive(Serialize, Deserialize)]
struct Snapshot {
    format: u32,
    records: Vec<Kept>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: Key,
    version: Version,
    #[serde(with = "serde_bytes")]
    body: Vec<u8>,
}

impl Estate {
    /// Every record with its body: in bulk, or from the list, the snapshot and what the snapshot lacks.
    pub(super) async fn bodies(&self) -> Result<Bodies, StoreError> {
        match (&self.artifacts, self.store.bulk_read()) {
            (Some(artifacts), BulkRead::OneByOne) => self.bodies_beside(&**artifacts).await,
            _ => {
                let records = self.store.get_all(&self.keys.records()).await?;
                Ok(Bodies { records, fetched: 0 })
            }
        }
    }

    async fn bodies_beside(&self, artifacts: &dyn ArtifactStore) -> Result<Bodies, StoreError> {
        let prefix = self.keys.records();
        let (listed, kept) = futures::join!(self.store.list(&prefix), self.kept(artifacts));
        let (listed, mut kept) = (listed?, kept);
        let mut records = Vec::with_capacity(listed.len());
        let mut missing = Vec::new();
        for entry in listed {
            match kept.remove(&entry.key) {
                Some(record) if record.version == entry.version => {
                    records.push((entry.key, record))
                }
                _ => missing.push(entry.key),
            }
        }
        let fetched = missing.len();
        let reads = missing.into_iter().map(|key| async move {
            let record = self.store.get(&key).await?;
            Ok::<_, StoreError>(record.map(|record| (key, record)))
        });
        let mut reads = futures::stream::iter(reads).buffer_unordered(AT_ONCE);
        while let Some(read) = reads.try_next().await? {
            // What was deleted since it was listed is left out.
            records.extend(read);
        }
        if fetched > 0 {
            records.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        }
        Ok(Bodies { records, fetched })
    }

    /// What the snapshot has; nothing where there is none, or none that can be read.
    async fn kept(&self, artifacts: &dyn ArtifactStore) -> HashMap<Key, Record> {
        let Ok(key) = self.keys.snapshot() else { return HashMap::new() };
        match artifacts.get(&key).await {
            Ok(Some(content)) => unpacked(&content).unwrap_or_else(|error| {
                tracing::warn!(%key, %error, "the snapshot cannot be read, and is not used");
                HashMap::new()
            }),
            Ok(None) => HashMap::new(),
            Err(error) => {
                tracing::warn!(%key, %error, "there is no access to the snapshot; records are read one by one");
                HashMap::new()
            }
        }
    }

    /// Writes the snapshot anew where more than a tenth of the records is not in it: those that were fetched
    /// for `reading`, and the `written` ones since. Asks nothing of the store otherwise.
    pub(crate) async fn renew_snapshot(&self, reading: &EstateReading, written: usize) {
        let Some(artifacts) = &self.artifacts else { return };
        let known = reading.records.len() + reading.state.outputs.len() + reading.strays.len();
        let is_stale = (reading.fetched + written) * 10 > known;
        if !is_stale || self.store.bulk_read() == BulkRead::WithList {
            return;
        }
        let renewed = async {
            let bodies = self.bodies_beside(&**artifacts).await?;
            let key = self.keys.snapshot()?;
            // Packing never fails, but for a bug that a cache is no reason to stop for.
            let Ok(content) = packed(bodies.records) else { return Ok(()) };
            artifacts.put(&key, content.into(), PutMode::Overwrite).await
        };
        if let Err(error) = renewed.await {
            tracing::warn!(%error, "the snapshot could not be written; the next plan reads more records one by one");
        }
    }
}

fn packed(records: Vec<(Key, Record)>) -> io::Result<Vec<u8>> {
    let records = records
        .into_iter()
        .map(|(key, record)| Kept { key, version: record.version, body: record.body.into() })
        .collect();
    let plain =
        rmp_serde::to_vec(&Snapshot { format: FORMAT, records }).map_err(io::Error::other)?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain)?;
    packed.finish()
}

/// A content that was damaged fails gzip's own checksum.
fn unpacked(content: &[u8]) -> io::Result<HashMap<Key, Record>> {
    let mut plain = Vec::new();
    GzDecoder::new(content).take(LARGEST).read_to_end(&mut plain)?;
    let snapshot: Snapshot = rmp_serde::from_slice(&plain).map_err(io::Error::other)?;
    if snapshot.format != FORMAT {
        return Err(io::Error::other(format!("its format is {}", snapshot.format)));
    }
    let records = snapshot.records.into_iter();
    Ok(records
        .map(|kept| (kept.key, Record { body: kept.body.into(), version: kept.version }))
        .collect())
}
