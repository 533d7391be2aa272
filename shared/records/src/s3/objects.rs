//! The requests: each is one call of the service, with everything that is configured for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::Future;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_sdk_s3::config::Config;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::EncodingType;
use bytes::Bytes;

use super::answer::{Failure, Meaning};
use super::connection::S3Connection;
use super::failure::{self, Request};
use super::listing::{self, Listed};
use super::pacing::Retries;
use super::settings::tags_problem;
use crate::{Key, KeyFault, MAX_KEY_LENGTH, StoreError, Version};

/// What a body above 1 MiB gets to be sent in, at the least: a slow line's bytes per second.
const SLOW_LINE: u64 = 128 * 1024;

/// The objects below a connection's prefix.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    pub(super) connection: S3Connection,
    /// As a request has them: `a=b&c=d`.
    tagging: Option<String>,
}

/// An object that was read.
pub(super) struct Object {
    pub(super) body: Bytes,
    pub(super) version: Version,
}

/// What a write expects to find.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// Nothing.
    Absent,
    /// An object of this version.
    Is(Version),
}

impl Condition {
    pub(super) fn of(expected: &Version) -> Self {
        if expected.is_absent() { Self::Absent } else { Self::Is(expected.clone()) }
    }

    pub(super) fn version(&self) -> Version {
        match self {
            Self::Absent => Version::absent(),
            Self::Is(version) => version.clone(),
        }
    }
}

impl Objects {
    /// Objects whose writes carry `tags`; the connection's win over them.
    pub(super) fn new(
        connection: S3Connection,
        mut tags: BTreeMap<String, String>,
    ) -> Result<Self, StoreError> {
        tags.extend(connection.settings().tags.clone());
        if let Some(problem) = tags_problem(&tags) {
            return Err(StoreError::Unsuitable { location: connection.location(), problem });
        }
        let pairs: Vec<_> = tags
            .iter()
            .map(|(key, value)| format!("{}={}", encoded(key), encoded(value)))
            .collect();
        let tagging = (!pairs.is_empty()).then(|| pairs.join("&"));
        Ok(Self { connection, tagging })
    }

    /// The object's whole name in the bucket.
    pub(super) fn name(&self, key: &Key) -> Result<String, StoreError> {
        let prefix = &self.connection.settings().prefix;
        let limit = MAX_KEY_LENGTH.saturating_sub(prefix.len());
        let length = key.as_str().len();
        if length > limit {
            let fault = KeyFault::TooLong { length, limit };
            return Err(StoreError::InvalidKey { key: key.to_string(), fault });
        }
        Ok(format!("{prefix}{key}"))
    }

    /// Reads one object; `None` when there is none.
    pub(super) async fn get(&self, key: &Key) -> Result<Option<Object>, StoreError> {
        let name = self.name(key)?;
        match self.retried(|| self.get_once(&name)).await {
            Ok(object) => Ok(Some(object)),
            Err(failure) if failure.meaning == Meaning::NoSuchKey => Ok(None),
            Err(failure) => Err(self.error("GetObject", Some(key), false, failure)),
        }
    }

    async fn get_once(&self, name: &str) -> Result<Object, Failure> {
        let output = self
            .connection
            .s3()
            .get_object()
            .bucket(self.connection.bucket())
            .key(name)
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await?;
        let version = version_of(output.e_tag())?;
        let body = output.body.collect().await.map_err(Failure::unreadable)?.into_bytes();
        Ok(Object { body, version })
    }

    /// Sends one write. `None` writes whatever is there.
    pub(super) async fn put_once(
        &self,
        name: &str,
        body: &Bytes,
        condition: Option<&Condition>,
    ) -> Result<Version, Failure> {
        let turn = self.connection.pace().turn().await;
        let mut request = self
            .connection
            .s3()
            .put_object()
            .bucket(self.connection.bucket())
            .key(name)
            .body(ByteStream::from(body.clone()))
            .set_tagging(self.tagging.clone())
            .set_expected_bucket_owner(self.connection.expected_bucket_owner());
        match condition {
            None => {}
            Some(Condition::Absent) => request = request.if_none_match("*"),
            Some(Condition::Is(version)) => request = request.if_match(quoted(version)),
        }
        let sent = request.customize().config_override(self.time_for(body.len())).send().await;
        let result = sent.map_err(Failure::from).and_then(|output| version_of(output.e_tag()));
        self.tell(turn, &result);
        result
    }

    /// Sends one removal. `None` removes whatever is there.
    pub(super) async fn delete_once(
        &self,
        name: &str,
        expected: Option<&Version>,
    ) -> Result<(), Failure> {
        let turn = self.connection.pace().turn().await;
        let sent = self
            .connection
            .s3()
            .delete_object()
            .bucket(self.connection.bucket())
            .key(name)
            .set_if_match(expected.map(quoted))
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        let result = sent.map(drop).map_err(Failure::from);
        self.tell(turn, &result);
        result
    }

    /// Every object whose key starts with `prefix`, in the order of the keys' bytes.
    pub(super) async fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        if !listing::may_begin_a_key(prefix) {
            return Ok(Vec::new());
        }
        let mut pages = listing::Pages::new(&self.connection);
        let mut token = None;
        loop {
            let page = self.retried(|| self.page(prefix, token.clone())).await;
            let page = page.map_err(|failure| self.error("ListObjectsV2", None, false, failure))?;
            token = pages.add(&page)?;
            if token.is_none() {
                return Ok(pages.finish());
            }
        }
    }

    async fn page(
        &self,
        prefix: &str,
        token: Option<String>,
    ) -> Result<aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output, Failure> {
        let sent = self
            .connection
            .s3()
            .list_objects_v2()
            .bucket(self.connection.bucket())
            .prefix(format!("{}{prefix}", self.connection.settings().prefix))
            // Keys may hold characters that XML cannot.
            .encoding_type(EncodingType::Url)
            .set_continuation_token(token)
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        Ok(sent?)
    }

    /// Attempts at one request: none begins when three answers could have come.
    pub(super) fn retries(&self) -> Retries {
        Retries::within(self.connection.settings().timeouts.answer * 3)
    }

    /// One attempt to see what is under a key, for a write that has attempts of its own.
    pub(super) async fn look(&self, name: &str) -> Result<Option<Object>, Failure> {
        let turn = self.connection.pace().turn().await;
        let result = self.get_once(name).await;
        self.tell(turn, &result);
        match result {
            Ok(object) => Ok(Some(object)),
            Err(failure) if failure.meaning == Meaning::NoSuchKey => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Sends a request that changes nothing until it is answered, or has failed often enough.
    async fn retried<T, O>(&self, attempt: impl Fn() -> O) -> Result<T, Failure>
    where
        O: Future<Output = Result<T, Failure>>,
    {
        let mut retries = self.retries();
        loop {
            let turn = self.connection.pace().turn().await;
            let result = attempt().await;
            self.tell(turn, &result);
            let failure = match result {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match retries.after(failure.meaning) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(failure),
            }
        }
    }

    /// What an answer says of the pace, and of the pinned owner.
    fn tell<T>(&self, turn: super::pacing::Turn<'_>, result: &Result<T, Failure>) {
        match result.as_ref().map_err(|failure| failure.meaning) {
            Err(Meaning::Throttled) => turn.throttled(),
            Err(meaning) if meaning.leaves_doubt() => drop(turn),
            Err(Meaning::Refused | Meaning::NotSent) => turn.answered(),
            // The bucket was looked into, so its owner is the one that is pinned.
            _ => {
                self.connection.owner_passes();
                turn.answered();
            }
        }
    }

    pub(super) fn error(
        &self,
        operation: &'static str,
        key: Option<&Key>,
        is_write: bool,
        failure: Failure,
    ) -> StoreError {
        failure::named(&self.connection, Request { operation, key, is_write }, failure)
    }

    /// More time for what takes more to send.
    fn time_for(&self, size: usize) -> aws_sdk_s3::config::Builder {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        let timeouts = &self.connection.settings().timeouts;
        let answer = timeouts.answer + Duration::from_secs(size / SLOW_LINE);
        let timeouts =
            TimeoutConfig::builder().connect_timeout(timeouts.connect).read_timeout(answer).build();
        Config::builder().timeout_config(timeouts)
    }
}

/// An `ETag` without the quotes around it, which some servers leave out of lists.
pub(super) fn version_of(etag: Option<&str>) -> Result<Version, Failure> {
    match etag.map(unquoted) {
        Some(etag) if !etag.is_empty() => Ok(Version::new(etag)),
        _ => Err(Failure::unreadable(NoVersion)),
    }
}

pub(super) fn unquoted(etag: &str) -> &str {
    etag.trim_start_matches("W/").trim_matches('"')
}

pub(super) fn quoted(version: &Version) -> String {
    format!("\"{}\"", version.as_str())
}

#[derive(Debug, thiserror::Error)]
#[error("the answer names no ETag, and without one nothing can be compared")]
struct NoVersion;

/// As the part of a query: every byte but letters, digits and `-._~` as `%HH`.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
