//! What is configured of a bucket, and which of it is refused.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::StoreError;

/// Tags that S3 takes per object.
const MAX_TAGS: usize = 10;
/// Characters of a tag's key and value.
const MAX_TAG_KEY: usize = 128;
const MAX_TAG_VALUE: usize = 256;

/// A bucket, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Settings {
    /// The bucket's name, or the ARN of an access point of one region.
    pub bucket: String,
    /// Text in front of every key, such as `team-a/`; may be empty. A `/` is added where it ends in none.
    pub prefix: String,
    /// The bucket's region; without one, that of the SDK configuration.
    pub region: Option<String>,
    /// The URL of another server than AWS. Such a server is asked once whether its conditional writes and
    /// deletes are honest.
    pub endpoint: Option<String>,
    /// Whether the bucket stands in the URL's path, as most other servers want it, and not in its host.
    pub path_style: bool,
    /// The AWS account that must own the bucket; sent with every request.
    pub expected_bucket_owner: Option<String>,
    /// The URL of another KMS than that of AWS.
    pub kms_endpoint: Option<String>,
    /// The URL of another STS than that of AWS.
    pub sts_endpoint: Option<String>,
    /// Tags of every object; where a write has a tag of the same key, these win.
    pub tags: BTreeMap<String, String>,
    /// The most requests at once; without it, 8 per core. What is throttled goes on with fewer.
    pub parallelism: Option<NonZeroUsize>,
    /// How long an answer may take.
    pub timeouts: S3Timeouts,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct S3Timeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// From a request to the start of its answer, and between two parts of it. A body above 1 MiB gets
    /// more time to be sent.
    pub answer: Duration,
}

impl Default for S3Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(3), answer: Duration::from_secs(10) }
    }
}

impl S3Settings {
    /// A bucket on AWS, with defaults for everything else.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            prefix: String::new(),
            region: None,
            endpoint: None,
            path_style: false,
            expected_bucket_owner: None,
            kms_endpoint: None,
            sts_endpoint: None,
            tags: BTreeMap::new(),
            parallelism: None,
            timeouts: S3Timeouts::default(),
        }
    }

    /// Where this is, for messages: `s3://bucket/prefix`.
    #[must_use]
    pub fn location(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.prefix.trim_end_matches('/'))
            .trim_end_matches('/')
            .to_owned()
    }

    /// Refuses what no store can be kept in, and puts the prefix into its one form.
    pub(super) fn checked(mut self) -> Result<Self, StoreError> {
        if let Some(problem) = self.problem() {
            return Err(StoreError::Unsuitable { location: self.location(), problem });
        }
        if !self.prefix.is_empty() && !self.prefix.ends_with('/') {
            self.prefix.push('/');
        }
        Ok(self)
    }

    fn problem(&self) -> Option<String> {
        let bucket = &self.bucket;
        if bucket.is_empty() {
            return Some("no bucket is named; set its name".to_owned());
        }
        if bucket.ends_with(".mrap") || bucket.starts_with("arn:") && bucket.contains(":s3::") {
            return Some(
                "a multi-region access point sends a write to one region and the next read to another, \
                 so that what was just written can be missing; name the bucket, or an access point \
                 of its region"
                    .to_owned(),
            );
        }
        if bucket.ends_with("--x-s3") {
            return Some(
                "a directory bucket has no versioning, and lists in no order; name a \
                 general purpose bucket"
                    .to_owned(),
            );
        }
        if let Err(error) = self.prefix_fault() {
            return Some(format!("the prefix {:?} is refused: {error}", self.prefix));
        }
        if let Some(owner) = &self.expected_bucket_owner
            && (owner.len() != 12 || !owner.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Some(format!(
                "{owner:?} is no account of AWS; the expected bucket owner has 12 digits"
            ));
        }
        tags_problem(&self.tags)
    }

    fn prefix_fault(&self) -> Result<(), StoreError> {
        let prefix = self.prefix.strip_suffix('/').unwrap_or(&self.prefix);
        if prefix.is_empty() && self.prefix.is_empty() {
            return Ok(());
        }
        crate::Key::new(prefix).map(drop)
    }
}

/// What S3 would refuse of these tags.
pub(super) fn tags_problem(tags: &BTreeMap<String, String>) -> Option<String> {
    if tags.len() > MAX_TAGS {
        return Some(format!("{} tags are set, and S3 takes {MAX_TAGS}", tags.len()));
    }
    tags.iter().find_map(|(key, value)| {
        let (key_length, value_length) = (key.chars().count(), value.chars().count());
        (key.is_empty()
            || key.starts_with("aws:")
            || key_length > MAX_TAG_KEY
            || value_length > MAX_TAG_VALUE)
            .then(|| {
                format!(
                    "the tag {key:?} is refused: a tag's key has 1 to {MAX_TAG_KEY} characters and does \
                     not start with \"aws:\", and its value has at most {MAX_TAG_VALUE}"
                )
            })
    })
}
