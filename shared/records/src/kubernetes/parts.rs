//! Bodies in several Secrets.
//!
//! No record is kept like this by intent: sizes are refused before a change begins. But what a provider has
//! made must not be lost because its answer is large. The first part is the record's own Secret, so that one
//! conditional write still decides; the others are written before it, under names that are the body's own.

use std::collections::{BTreeMap, HashMap, HashSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;

use super::body::{MAX_PARTS, MAX_STORED_SIZE, Packed};
use super::names::{DIGEST, PART_TYPE, PARTS, part_name, secret_name};
use super::requests::{ATTEMPTS, Requests, WriteFailure, back_off};
use super::survey::Survey;
use super::version::{PartsOf, SecretVersion};
use super::{KubernetesStore, Place};
use crate::{Key, StoreError};

/// The value of a part's Secret.
const PART: &str = "part";

/// What a record's Secret says of its parts.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(super) fn of(secret: &Secret) -> Result<Option<PartsOf>, &'static str> {
    let annotations = secret.metadata.annotations.as_ref();
    let annotation = |name| annotations.and_then(|it| it.get(name));
    match (annotation(PARTS), annotation(DIGEST)) {
        (None, None) => Ok(None),
        (Some(count), Some(digest)) => match count.parse() {
            Ok(count) if (2..=MAX_PARTS).contains(&count) => {
                Ok(Some(PartsOf { digest: digest.clone(), count }))
            }
            _ => Err("it does not say how many parts it has"),
        },
        _ => Err("it says only one of how many parts it has and what they are"),
    }
}

/// What a Secret comes to that cannot be what was written.
pub(super) fn corrupt(place: &Place, secret: &Secret, problem: &str) -> StoreError {
    let name = secret.metadata.name.as_deref().unwrap_or_default();
    StoreError::Corrupt {
        location: format!("the Secret {name} in {place}"),
        problem: format!(
            "{problem}. Somebody edited it, or took a part away; restore it from a backup. Look: {} get secret \
             {name} -o yaml",
            place.kubectl()
        ),
    }
}

/// Reads the further parts of a record, one by one.
pub(super) async fn read(
    requests: &Requests,
    record: &Secret,
    spread: &PartsOf,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let name = record.metadata.name.as_deref().unwrap_or_default();
    let mut values = Vec::with_capacity(spread.count);
    for part in names(name, spread) {
        let missing = || corrupt(&requests.place, record, &format!("its part {part} is missing"));
        let secret = requests.get(&part).await?;
        values.push(secret.and_then(value).ok_or_else(missing)?);
    }
    Ok(values)
}

/// The further parts of a record out of a listing.
///
/// # Errors
/// What is wrong, as the end of a sentence.
pub(super) fn take(
    record: &Secret,
    spread: &PartsOf,
    listed: &HashMap<String, Secret>,
) -> Result<Vec<Vec<u8>>, &'static str> {
    let name = record.metadata.name.as_deref().unwrap_or_default();
    let part = |part: String| listed.get(&part).cloned().and_then(value);
    let parts: Option<_> = names(name, spread).map(part).collect();
    parts.ok_or("one of its parts is missing")
}

/// The parts that no record of a listing names, and when each was made, in seconds since the epoch.
pub(super) fn leftovers(survey: &Survey) -> BTreeMap<String, i64> {
    let mut named = HashSet::new();
    for (_, record) in &survey.records {
        let name = record.metadata.name.as_deref().unwrap_or_default();
        match of(record) {
            Ok(spread) => named.extend(spread.iter().flat_map(|spread| names(name, spread))),
            // Which parts are its own nobody knows: none of them is left over.
            Err(_) => return BTreeMap::new(),
        }
    }
    let unnamed = survey.parts.iter().filter(|(name, _)| !named.contains(*name));
    let made = |part: &Secret| part.metadata.creation_timestamp.as_ref().map(|at| at.0.as_second());
    unnamed.filter_map(|(name, part)| Some((name.clone(), made(part)?))).collect()
}

/// Writes all parts but the first, and answers the first and what it has to say of the others.
pub(super) async fn write(
    store: &KubernetesStore,
    key: &Key,
    packed: Packed,
    owner: Option<&SecretVersion>,
) -> Result<(Vec<u8>, PartsOf), StoreError> {
    let digest = packed.digest();
    let mut chunks = packed.content.chunks(MAX_STORED_SIZE).map(<[u8]>::to_vec);
    let first = chunks.next().unwrap_or_default();
    let chunks: Vec<_> = chunks.collect();
    let spread = PartsOf { digest, count: chunks.len() + 1 };
    let record = secret_name(key);
    for (name, chunk) in names(&record, &spread).zip(chunks) {
        // With its record a part goes too, also where its removal was cut short.
        let owner = owner.map(|owner| OwnerReference {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            name: record.clone(),
            uid: owner.uid.clone(),
            ..Default::default()
        });
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some(name),
                namespace: Some(store.requests.place.namespace.clone()),
                labels: Some(store.labels()),
                owner_references: owner.map(|owner| vec![owner]),
                ..Default::default()
            },
            data: Some(BTreeMap::from([(PART.to_owned(), ByteString(chunk))])),
            type_: Some(PART_TYPE.to_owned()),
            ..Default::default()
        };
        create(&store.requests, key, &secret).await?;
    }
    Ok((first, spread))
}

/// Creates one part. Where it is there already an attempt before has made it: its name is its content's.
async fn create(requests: &Requests, key: &Key, part: &Secret) -> Result<(), StoreError> {
    let mut doubt = None;
    for attempt in 1..=ATTEMPTS {
        match requests.create(part).await {
            Ok(_) | Err(WriteFailure::Lost) => return Ok(()),
            Err(WriteFailure::Refused(error)) => return Err(error),
            Err(WriteFailure::Throttled(pause)) => tokio::time::sleep(pause).await,
            Err(WriteFailure::Doubt(cause)) => {
                doubt = Some(cause);
                tokio::time::sleep(back_off(attempt)).await;
            }
        }
    }
    Err(StoreError::Unanswered { key: key.clone(), source: doubt })
}

/// Removes a body's further parts as far as that goes. The record does not depend on it, and what stays
/// belongs to an owner that takes it along.
pub(super) async fn remove(requests: &Requests, key: &Key, spread: &PartsOf) {
    for name in names(&secret_name(key), spread) {
        if let Err(error) = requests.delete_part(&name).await {
            tracing::warn!("the Secret {name} in {} was not removed: {error}", requests.place);
        }
    }
}

/// The names of all parts but the first.
fn names<'a>(record: &'a str, spread: &'a PartsOf) -> impl Iterator<Item = String> + 'a {
    (2..=spread.count).map(move |number| part_name(record, &spread.digest, number))
}

fn value(mut part: Secret) -> Option<Vec<u8>> {
    part.data.as_mut()?.remove(PART).map(|value| value.0)
}
