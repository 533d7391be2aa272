//! Records as Secrets of a namespace.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;

use super::attribution::Estate;
use super::body::{MAX_CLAIMED_SIZE, MAX_PARTS, MAX_STORED_SIZE, Packed, stored_value, unpack};
use super::names::{
    DIGEST, ESTATE, EstateLabel, KEY, MANAGED_BY, PARTS, PLUMBLINE, RECORD_TYPE, check_namespace,
    secret_name,
};
use super::parts;
use super::requests::{ATTEMPTS, Cause, Failure, Requests, WriteFailure, back_off, is_of_kind};
use super::version::{PartsOf, SecretVersion};
use super::{Cluster, Refusal};
use crate::{BulkRead, Entry, Key, Record, RecordStore, StoreError, Version};

/// What a Kubernetes store is opened with.
#[derive(Clone, Debug)]
pub struct KubernetesOptions {
    /// The namespace of the records; it must exist.
    pub namespace: String,
    /// The estate whose records these are: the value of a label on each of them.
    pub estate: String,
    /// What the estate's keys are below.
    pub root: Key,
    /// How many Secrets one page of a listing has at most.
    pub page_size: u32,
    /// How long one request may take.
    pub request_time_out: Duration,
}

impl KubernetesOptions {
    /// The records of one estate in a namespace, with the sizes and times that suit most clusters.
    pub fn new(namespace: impl Into<String>, estate: impl Into<String>, root: Key) -> Self {
        Self {
            namespace: namespace.into(),
            estate: estate.into(),
            root,
            page_size: 500,
            request_time_out: Duration::from_secs(30),
        }
    }
}

/// The most parts that one sweep removes.
const MOST_SWEPT: usize = 100;

/// The records of one estate, each in a Secret of its own.
///
/// A Secret's name is derived from the record's key, which an annotation holds; labels name the manager and
/// the estate. A version is a Secret's `resourceVersion` and `uid`: every write carries them, and the API
/// server compares. Anything in the namespace that is ambiguous is a [`Refusal`], never mended silently.
#[derive(Debug)]
pub struct KubernetesStore {
    pub(super) requests: Requests,
    pub(super) estate: Estate,
    pub(super) page_size: u32,
    /// Whether the namespace was seen to be there, by itself or by something in it.
    used: AtomicBool,
    /// Parts that the last listing showed and no record of it named, and when each was made.
    leftovers: Mutex<BTreeMap<String, i64>>,
}

impl KubernetesStore {
    /// Opens a store; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Where the estate cannot be a label, or the namespace is no name of one.
    pub fn new(cluster: &Cluster, options: KubernetesOptions) -> Result<Self, Refusal> {
        check_namespace(&options.namespace)?;
        let place = cluster.place(&options.namespace);
        let label = EstateLabel::new(&options.estate)?;
        Ok(Self {
            requests: Requests {
                cluster: cluster.clone(),
                place: place.clone(),
                time_out: options.request_time_out,
            },
            estate: Estate { label, root: options.root, place },
            page_size: options.page_size.max(1),
            used: AtomicBool::new(false),
            leftovers: Mutex::default(),
        })
    }

    /// Sees that the namespace is there, once: absence in a namespace that is missing would be no answer.
    pub(super) async fn check_namespace(&self) -> Result<(), StoreError> {
        if self.used.load(Ordering::Acquire) {
            return Ok(());
        }
        match self.requests.namespace().await {
            Ok(namespace) => {
                let phase = namespace.status.and_then(|status| status.phase);
                if phase.as_deref() == Some("Terminating") {
                    let place = self.estate.place.clone();
                    return Err(Refusal::NamespaceTerminating { place }.into());
                }
            }
            Err(Failure::Status(status)) if is_of_kind(&status, "namespaces") => {
                return Err(self.requests.missing());
            }
            // A Role for Secrets alone does not show the namespace; whoever may not see it is told of its
            // absence by the first write.
            Err(Failure::Status(status)) if status.code == 403 => {}
            Err(failure) => return Err(self.requests.explain("get", failure).await),
        }
        self.used();
        Ok(())
    }

    fn leftovers(&self) -> MutexGuard<'_, BTreeMap<String, i64>> {
        self.leftovers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn used(&self) {
        self.used.store(true, Ordering::Release);
    }

    /// The record in a Secret that was read under a key's name.
    async fn record(&self, key: &Key, secret: Secret) -> Result<Record, StoreError> {
        self.estate.check_read(key, &secret)?;
        let spread = parts::of(&secret).map_err(|problem| self.corrupt(&secret, problem))?;
        match spread {
            None => self.assemble(secret, None, Vec::new()),
            Some(spread) => {
                let parts = parts::read(&self.requests, &secret, &spread).await?;
                self.assemble(secret, Some(spread), parts)
            }
        }
    }

    /// A record from its Secret and the values of its further parts.
    fn assemble(
        &self,
        mut secret: Secret,
        spread: Option<PartsOf>,
        parts: Vec<Vec<u8>>,
    ) -> Result<Record, StoreError> {
        let data = secret.data.take().unwrap_or_default();
        let values = data.iter().map(|(name, value)| (name.as_str(), value.0.as_slice()));
        let Some((name, _)) = stored_value(values) else {
            return Err(self.corrupt(&secret, "it has not exactly one body"));
        };
        let mut data = data;
        let mut content = data.remove(name).unwrap_or_default().0;
        if let Some(spread) = &spread {
            content.extend(parts.into_iter().flatten());
            let packed = Packed { name, content };
            if packed.digest() != spread.digest {
                return Err(self.corrupt(&secret, "its parts are not those that were written"));
            }
            content = packed.content;
        }
        let version = self.version(&secret, spread)?;
        let body = unpack(name, content).map_err(|problem| self.corrupt(&secret, problem))?;
        Ok(Record { body, version })
    }

    fn version(&self, secret: &Secret, parts: Option<PartsOf>) -> Result<Version, StoreError> {
        let metadata = &secret.metadata;
        match (&metadata.resource_version, &metadata.uid) {
            (Some(resource_version), Some(uid)) => {
                let (resource_version, uid) = (resource_version.clone(), uid.clone());
                Ok(SecretVersion { resource_version, uid, parts }.to_version())
            }
            _ => Err(self.corrupt(secret, "the API server tells no version of it")),
        }
    }

    fn corrupt(&self, secret: &Secret, problem: &str) -> StoreError {
        parts::corrupt(&self.estate.place, secret, problem)
    }

    /// Every record of the estate below a prefix; what is refused anywhere in the estate refuses the whole.
    async fn read_all(&self, prefix: &str) -> Result<BTreeMap<Key, Record>, StoreError> {
        let survey = self.survey().await?;
        *self.leftovers() = parts::leftovers(&survey);
        let mut records = BTreeMap::new();
        for (key, secret) in survey.records {
            if !key.as_str().starts_with(prefix) {
                continue;
            }
            let spread = parts::of(&secret).map_err(|problem| self.corrupt(&secret, problem))?;
            let parts = match &spread {
                None => Vec::new(),
                Some(spread) => parts::take(&secret, spread, &survey.parts)
                    .map_err(|problem| self.corrupt(&secret, problem))?,
            };
            records.insert(key, self.assemble(secret, spread, parts)?);
        }
        Ok(records)
    }

    /// The Secret of a record, ready to be written.
    fn secret(
        &self,
        key: &Key,
        value: (&'static str, Vec<u8>),
        parts: Option<&PartsOf>,
        expected: Option<&SecretVersion>,
    ) -> Secret {
        let mut annotations = BTreeMap::from([(KEY.to_owned(), key.to_string())]);
        if let Some(PartsOf { digest, count }) = parts {
            annotations.insert(PARTS.to_owned(), count.to_string());
            annotations.insert(DIGEST.to_owned(), digest.clone());
        }
        let (name, content) = value;
        Secret {
            metadata: ObjectMeta {
                name: Some(secret_name(key)),
                namespace: Some(self.estate.place.namespace.clone()),
                labels: Some(self.labels()),
                annotations: Some(annotations),
                resource_version: expected.map(|expected| expected.resource_version.clone()),
                uid: expected.map(|expected| expected.uid.clone()),
                ..Default::default()
            },
            data: Some(BTreeMap::from([(name.to_owned(), ByteString(content))])),
            type_: Some(RECORD_TYPE.to_owned()),
            ..Default::default()
        }
    }

    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            (MANAGED_BY.to_owned(), PLUMBLINE.to_owned()),
            (ESTATE.to_owned(), self.estate.label.as_str().to_owned()),
        ])
    }

    async fn write(
        &self,
        key: &Key,
        body: &Bytes,
        expected: &Version,
        splits: bool,
    ) -> Result<Version, StoreError> {
        self.estate.check_key(key)?;
        let seen = match expected.is_absent() {
            true => None,
            false => match SecretVersion::parse(expected) {
                Some(seen) => Some(seen),
                None => return Err(self.conflict(key, expected).await?),
            },
        };
        let packed = Packed::new(body);
        let size = packed.content.len();
        if size <= MAX_STORED_SIZE {
            let secret = self.secret(key, (packed.name, packed.content), None, seen.as_ref());
            let version = self.send(key, body, expected, &secret).await?;
            self.remove_parts(key, seen.as_ref(), None).await;
            return Ok(version);
        }
        let limit = if splits { MAX_PARTS * MAX_STORED_SIZE } else { MAX_STORED_SIZE };
        if size > limit {
            let (size, limit) = (size as u64, limit as u64);
            return Err(StoreError::TooLarge { key: key.clone(), size, limit });
        }
        let name = packed.name;
        let (first, spread) = parts::write(self, key, packed, seen.as_ref()).await?;
        let secret = self.secret(key, (name, first), Some(&spread), seen.as_ref());
        let written = self.send(key, body, expected, &secret).await;
        match &written {
            Ok(_) => self.remove_parts(key, seen.as_ref(), Some(&spread)).await,
            Err(error) if error.leaves_doubt() => {}
            // The same body may be there already, from a write whose answer was lost.
            Err(StoreError::Conflict { actual, .. }) if has_parts(actual, &spread) => {}
            Err(_) => parts::remove(&self.requests, key, &spread).await,
        }
        written
    }

    /// Sends one conditional write until it is answered, and settles what an answer leaves open by reading
    /// back and comparing with what was sent. The condition is in the request; no attempt is without it.
    async fn send(
        &self,
        key: &Key,
        body: &Bytes,
        expected: &Version,
        secret: &Secret,
    ) -> Result<Version, StoreError> {
        let name = secret.metadata.name.as_deref().unwrap_or_default();
        let mut doubt = None;
        for attempt in 1..=ATTEMPTS {
            let sent = match expected.is_absent() {
                true => self.requests.create(secret).await,
                false => self.requests.replace(name, secret).await,
            };
            match sent {
                Ok(written) => {
                    self.used();
                    let spread = parts::of(secret).unwrap_or_default();
                    return self.version(&written, spread);
                }
                Err(WriteFailure::Refused(error)) => return Err(in_doubt(key, doubt, error)),
                Err(WriteFailure::Throttled(pause)) => tokio::time::sleep(pause).await,
                Err(WriteFailure::Lost) => {
                    let found = match self.get(key).await {
                        Ok(found) => found,
                        Err(error) => return Err(in_doubt(key, doubt, error)),
                    };
                    // What was in the way is gone again.
                    if version_of(found.as_ref()) != *expected {
                        return self.settle(key, body, expected, found, doubt);
                    }
                }
                Err(WriteFailure::Doubt(cause)) => {
                    doubt = Some(cause);
                    if let Ok(found) = self.get(key).await {
                        let actual = version_of(found.as_ref());
                        if actual != *expected {
                            return self.settle(key, body, expected, found, doubt);
                        }
                    }
                    tokio::time::sleep(back_off(attempt)).await;
                }
            }
        }
        Err(in_doubt(key, doubt, self.requests.turned_away("write")))
    }

    /// What a write came to whose condition does not hold any more.
    fn settle(
        &self,
        key: &Key,
        body: &Bytes,
        expected: &Version,
        found: Option<Record>,
        doubt: Option<Cause>,
    ) -> Result<Version, StoreError> {
        let actual = version_of(found.as_ref());
        match (found, doubt) {
            // Bodies are never alike: the one that an earlier attempt was sent with is ours.
            (Some(record), Some(_)) if record.body == *body => Ok(record.version),
            // It may have been there, and was replaced since.
            (_, Some(cause)) => {
                Err(StoreError::Unanswered { key: key.clone(), source: Some(cause) })
            }
            (_, None) => {
                Err(StoreError::Conflict { key: key.clone(), expected: expected.clone(), actual })
            }
        }
    }

    /// The conflict with what is there now.
    async fn conflict(&self, key: &Key, expected: &Version) -> Result<StoreError, StoreError> {
        let actual = version_of(self.get(key).await?.as_ref());
        Ok(StoreError::Conflict { key: key.clone(), expected: expected.clone(), actual })
    }

    /// Takes away the parts of a body that is current no more. What stays is found by the owner it names.
    async fn remove_parts(
        &self,
        key: &Key,
        replaced: Option<&SecretVersion>,
        current: Option<&PartsOf>,
    ) {
        let parts = replaced.and_then(|replaced| replaced.parts.as_ref());
        if let Some(parts) = parts.filter(|parts| Some(*parts) != current) {
            parts::remove(&self.requests, key, parts).await;
        }
    }
}

/// What an error means where an earlier attempt may have been carried out.
fn in_doubt(key: &Key, doubt: Option<Cause>, error: StoreError) -> StoreError {
    match doubt {
        None => error,
        Some(cause) => StoreError::Unanswered { key: key.clone(), source: Some(cause) },
    }
}

fn version_of(record: Option<&Record>) -> Version {
    record.map_or_else(Version::absent, |record| record.version.clone())
}

#[async_trait]
impl RecordStore for KubernetesStore {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.estate.check_key(key)?;
        let name = secret_name(key);
        // The parts of a body that was replaced meanwhile are gone: then the new body is the answer.
        let mut attempt = 1;
        loop {
            let Some(secret) = self.requests.get(&name).await? else {
                self.check_namespace().await?;
                return Ok(None);
            };
            self.used();
            match self.record(key, secret).await {
                Err(StoreError::Corrupt { .. }) if attempt < ATTEMPTS => attempt += 1,
                read => return read.map(Some),
            }
        }
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.write(key, &body, expected, false).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.write(key, &body, &Version::absent(), false).await
    }

    async fn put_in_parts(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.write(key, &body, expected, true).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.estate.check_key(key)?;
        let Some(seen) = SecretVersion::parse(expected) else {
            return match self.get(key).await? {
                None if expected.is_absent() => Ok(()),
                found => Err(StoreError::Conflict {
                    key: key.clone(),
                    expected: expected.clone(),
                    actual: version_of(found.as_ref()),
                }),
            };
        };
        let name = secret_name(key);
        let mut doubt = None;
        for attempt in 1..=ATTEMPTS {
            match self.requests.delete(&name, &seen).await {
                Ok(left) => {
                    self.used();
                    // What has finalizers is only marked.
                    if let Some(left) = left.filter(|it| it.metadata.deletion_timestamp.is_some()) {
                        self.estate.check_read(key, &left)?;
                    }
                    self.remove_parts(key, Some(&seen), None).await;
                    return Ok(());
                }
                Err(WriteFailure::Refused(error)) => return Err(in_doubt(key, doubt, error)),
                Err(WriteFailure::Throttled(pause)) => tokio::time::sleep(pause).await,
                Err(WriteFailure::Lost) => {
                    let found = match self.get(key).await {
                        Ok(found) => found,
                        Err(error) => return Err(in_doubt(key, doubt, error)),
                    };
                    if found.is_none() && doubt.is_some() {
                        self.remove_parts(key, Some(&seen), None).await;
                        return Ok(());
                    }
                    let actual = version_of(found.as_ref());
                    return Err(match doubt {
                        // Another Secret under the name: ours may have gone first.
                        Some(cause) if !is_same_secret(&actual, &seen) => {
                            StoreError::Unanswered { key: key.clone(), source: Some(cause) }
                        }
                        _ => StoreError::Conflict {
                            key: key.clone(),
                            expected: expected.clone(),
                            actual,
                        },
                    });
                }
                Err(WriteFailure::Doubt(cause)) => {
                    doubt = Some(cause);
                    tokio::time::sleep(back_off(attempt)).await;
                }
            }
        }
        Err(in_doubt(key, doubt, self.requests.turned_away("delete")))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let records = self.read_all(prefix).await?;
        let entry = |(key, record): (Key, Record)| Entry {
            key,
            version: record.version,
            size: record.body.len() as u64,
        };
        Ok(records.into_iter().map(entry).collect())
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        Ok(self.read_all(prefix).await?.into_iter().collect())
    }

    /// Whoever wrote a part names it in its record a moment later, or never.
    async fn sweep_leftovers(&self, before: i64) -> Result<usize, StoreError> {
        let old: Vec<String> = {
            let leftovers = self.leftovers();
            let old = leftovers.iter().filter(|(_, made)| **made < before);
            old.map(|(name, _)| name.clone()).take(MOST_SWEPT).collect()
        };
        for name in &old {
            self.requests.delete_part(name).await?;
            self.leftovers().remove(name);
        }
        Ok(old.len())
    }

    fn location(&self) -> String {
        self.estate.place.to_string()
    }

    /// The API server has no listing without bodies that tells how large they are.
    fn bulk_read(&self) -> BulkRead {
        BulkRead::WithList
    }

    fn max_body_size(&self) -> Option<u64> {
        Some(MAX_STORED_SIZE as u64)
    }

    fn check_claim_size(&self, key: &Key, body: &[u8]) -> Result<(), StoreError> {
        let size = Packed::new(body).content.len();
        if size <= MAX_CLAIMED_SIZE {
            return Ok(());
        }
        let (size, limit) = (size as u64, MAX_CLAIMED_SIZE as u64);
        Err(StoreError::TooLarge { key: key.clone(), size, limit })
    }
}

fn has_parts(version: &Version, parts: &PartsOf) -> bool {
    SecretVersion::parse(version).is_some_and(|version| version.parts.as_ref() == Some(parts))
}

fn is_same_secret(actual: &Version, seen: &SecretVersion) -> bool {
    SecretVersion::parse(actual).is_some_and(|actual| actual.uid == seen.uid)
}
