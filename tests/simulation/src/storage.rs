//! What the stores keep: records with all their earlier states, and artifacts.

use crate::breakage::Breakage;
use bytes::Bytes;
use records::{Entry, Key, Record, StoreError, Version};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the stores keep.
pub struct Storage {
    /// Records as they are.
    pub records: BTreeMap<Key, Record>,
    /// Artifacts.
    pub artifacts: BTreeMap<Key, Bytes>,
    /// Every change of a record, in order.
    pub history: Vec<Written>,
    /// Whether versions are made of the content, as an `ETag` is.
    by_content: bool,
    /// Set by a write that announces a call, for whoever looks next.
    pub announced: bool,
    breakage: Option<Breakage>,
}

/// A change of a record.
#[derive(Clone, Debug)]
pub struct Written {
    /// The record.
    pub key: Key,
    /// What it said from then on; `None` where it was removed.
    pub body: Option<Bytes>,
    /// Its version since.
    pub version: Version,
    /// When.
    pub at: Duration,
}

impl Storage {
    pub(crate) fn new(by_content: bool, breakage: Option<Breakage>) -> Self {
        Self {
            records: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            history: Vec::new(),
            by_content,
            announced: false,
            breakage,
        }
    }

    fn version_of(&self, body: &[u8]) -> Version {
        let text = match (self.breakage, self.by_content) {
            (Some(Breakage::ForgetWriteId), _) => changed(body, |json| {
                json.remove("write_id");
            }),
            (_, true) => body.to_vec(),
            (_, false) => return Version::new(self.history.len().to_string()),
        };
        Version::new(hex::encode(&Sha256::digest(text)[..8]))
    }

    fn expect(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        let actual = self.records.get(key).map_or_else(Version::absent, |r| r.version.clone());
        match actual == *expected || self.breakage == Some(Breakage::WriteUnconditionally) {
            true => Ok(()),
            false => {
                Err(StoreError::Conflict { key: key.clone(), expected: expected.clone(), actual })
            }
        }
    }

    pub(crate) fn put(
        &mut self,
        key: &Key,
        body: &Bytes,
        expected: &Version,
        at: Duration,
    ) -> Result<Version, StoreError> {
        self.expect(key, expected)?;
        let body = match self.breakage {
            Some(Breakage::ClearClaimWithResult) => changed(body, |json| {
                if json.get("claim").is_some_and(|claim| claim["state"] == "done") {
                    json.remove("claim");
                }
            })
            .into(),
            Some(Breakage::ForgetDoubt) => changed(body, |json| {
                json.remove("doubt");
            })
            .into(),
            _ => body.clone(),
        };
        self.announced = is_announcement(&body);
        let version = self.version_of(&body);
        if self.breakage == Some(Breakage::DropRefusedResult) && key.as_str().contains("/r/s/") {
            return Ok(version);
        }
        self.history.push(Written {
            key: key.clone(),
            body: Some(body.clone()),
            version: version.clone(),
            at,
        });
        self.records.insert(key.clone(), Record { body, version: version.clone() });
        Ok(version)
    }

    pub(crate) fn delete(
        &mut self,
        key: &Key,
        expected: &Version,
        at: Duration,
    ) -> Result<(), StoreError> {
        self.expect(key, expected)?;
        if self.records.remove(key).is_some() {
            let version = Version::absent();
            self.history.push(Written { key: key.clone(), body: None, version, at });
        }
        Ok(())
    }

    pub(crate) fn list(&self, prefix: &str) -> Vec<Entry> {
        let entry = |(key, record): (&Key, &Record)| Entry {
            key: key.clone(),
            version: record.version.clone(),
            size: record.body.len() as u64,
        };
        self.starting_with(prefix).map(entry).collect()
    }

    pub(crate) fn get_all(&self, prefix: &str) -> Vec<(Key, Record)> {
        let shown = |record: &Record| {
            let body = match self.breakage {
                Some(Breakage::SkipDependentsCheck) => changed(&record.body, |json| {
                    for holder in ["claim", "object"] {
                        if let Some(Json::Object(holder)) = json.get_mut(holder) {
                            holder.insert("dependencies".into(), Json::Array(Vec::new()));
                        }
                    }
                })
                .into(),
                _ => record.body.clone(),
            };
            Record { body, version: record.version.clone() }
        };
        self.starting_with(prefix).map(|(key, record)| (key.clone(), shown(record))).collect()
    }

    fn starting_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a Key, &'a Record)> {
        let all = self.records.iter();
        all.filter(move |(key, _)| key.as_str().starts_with(prefix))
    }
}

/// Whether a record says that a provider is about to be called.
fn is_announcement(body: &[u8]) -> bool {
    let json: Json = serde_json::from_slice(body).unwrap_or_default();
    json["claim"]["state"] == "applying"
}

/// A body with something changed, where it is an object.
fn changed(body: &[u8], change: impl FnOnce(&mut serde_json::Map<String, Json>)) -> Vec<u8> {
    match serde_json::from_slice(body) {
        Ok(Json::Object(mut json)) => {
            change(&mut json);
            Json::Object(json).to_string().into_bytes()
        }
        _ => body.to_vec(),
    }
}
