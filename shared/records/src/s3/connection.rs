//! The clients of the services that a store in a bucket talks to.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{Region, RequestChecksumCalculation, ResponseChecksumValidation};
use aws_types::service_config::ServiceConfigKey;
use tokio::sync::OnceCell;

use super::failure;
use super::pacing::Pace;
use super::server_clock::ServerClock;
use super::settings::S3Settings;
use crate::StoreError;

/// A bucket with the clients to reach it. Clones share connections and everything else.
///
/// Region, credentials, HTTP client and time come from the SDK configuration that is handed in; this crate
/// reads no environment.
#[derive(Clone)]
pub struct S3Connection {
    settings: Arc<S3Settings>,
    honesty: Arc<OnceCell<()>>,
    inner: Arc<Inner>,
}

/// What connections to other prefixes of the bucket share.
struct Inner {
    other_server: Option<String>,
    has_kms: bool,
    pace: Pace,
    s3: aws_sdk_s3::Client,
    kms: aws_sdk_kms::Client,
    sts: aws_sdk_sts::Client,
    owner_passed: AtomicBool,
    clock: ServerClock,
}

/// Without credentials.
impl fmt::Debug for S3Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Connection").field("settings", &self.settings).finish()
    }
}

/// The server that the SDK's client of a service talks to, where that is another than AWS: set for the service alone
/// (such as `AWS_ENDPOINT_URL_S3`, `services` in a profile), or for every one. What code has set comes first, as there.
fn endpoint_of(sdk: &SdkConfig, service: &str) -> Option<String> {
    let every_service = || sdk.endpoint_url().map(ToOwned::to_owned);
    if sdk.get_origin("endpoint_url").is_client_config() {
        return every_service();
    }
    let key = ServiceConfigKey::builder()
        .service_id(service)
        .env("AWS_ENDPOINT_URL")
        .profile("endpoint_url")
        .build()
        .ok();
    let own = sdk.service_config().zip(key).and_then(|(config, key)| config.load_config(key));
    own.or_else(every_service)
}

impl S3Connection {
    /// Makes the clients. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsuitable`] when the settings name something that records cannot be kept in, such as a
    /// multi-region access point, and [`StoreError::Refused`] when no region is known where one is needed.
    pub fn new(settings: S3Settings, sdk: &SdkConfig) -> Result<Self, StoreError> {
        let settings = settings.checked()?;
        let endpoint = settings.endpoint.clone().or_else(|| endpoint_of(sdk, "S3"));
        // A key that another server names is none that AWS knows.
        let has_kms = endpoint.is_none()
            || settings.kms_endpoint.is_some()
            || endpoint_of(sdk, "KMS").is_some();
        let region = settings.region.clone().or_else(|| sdk.region().map(ToString::to_string));
        let region = match (region, &endpoint) {
            (Some(region), _) => region,
            // Other servers have one region, whatever it is called.
            (None, Some(_)) => "us-east-1".to_owned(),
            (None, None) => return Err(failure::no_region(&settings)),
        };
        // Retries are this crate's own: between two attempts at a conditional write it has to look whether
        // the first was done, and a throttled answer has to slow down the other requests too.
        let retries = RetryConfig::disabled();
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(settings.timeouts.connect)
            .read_timeout(settings.timeouts.answer)
            .build();
        let sdk = sdk.to_builder().region(Region::new(region)).timeout_config(timeouts).build();
        let clock = ServerClock::new();
        let mut s3 = aws_sdk_s3::config::Builder::from(&sdk)
            .retry_config(retries)
            .interceptor(clock.clone())
            .force_path_style(settings.path_style)
            .disable_multi_region_access_points(true);
        let mut kms = aws_sdk_kms::config::Builder::from(&sdk);
        let mut sts = aws_sdk_sts::config::Builder::from(&sdk);
        if endpoint.is_some() {
            // Many other servers refuse the checksums that S3 has come to take with every request.
            s3 = s3
                .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
                .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
        }
        // Where nothing is set, the SDK configuration's own stays.
        if settings.endpoint.is_some() {
            s3.set_endpoint_url(settings.endpoint.clone());
        }
        if settings.kms_endpoint.is_some() {
            kms.set_endpoint_url(settings.kms_endpoint.clone());
        }
        if settings.sts_endpoint.is_some() {
            sts.set_endpoint_url(settings.sts_endpoint.clone());
        }
        let inner = Inner {
            other_server: endpoint,
            has_kms,
            pace: Pace::new(settings.parallelism),
            s3: aws_sdk_s3::Client::from_conf(s3.build()),
            kms: aws_sdk_kms::Client::from_conf(kms.build()),
            sts: aws_sdk_sts::Client::from_conf(sts.build()),
            owner_passed: AtomicBool::new(false),
            clock,
        };
        Ok(Self { settings: Arc::new(settings), honesty: Arc::default(), inner: Arc::new(inner) })
    }

    /// The same clients, and the same bound on requests at once, with `prefix` in the place of this one's.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsuitable`] when no key can begin with the prefix.
    pub fn at_prefix(&self, prefix: impl Into<String>) -> Result<Self, StoreError> {
        let settings = S3Settings { prefix: prefix.into(), ..S3Settings::clone(&self.settings) };
        Ok(Self {
            settings: Arc::new(settings.checked()?),
            honesty: Arc::default(),
            inner: Arc::clone(&self.inner),
        })
    }

    /// What it was made with, the prefix in its one form: empty, or ending in `/`.
    #[must_use]
    pub fn settings(&self) -> &S3Settings {
        &self.settings
    }

    /// Where this is, for messages: `s3://bucket/prefix`.
    #[must_use]
    pub fn location(&self) -> String {
        self.settings.location()
    }

    /// The URL of the server, where it is another than AWS.
    #[must_use]
    pub fn other_server(&self) -> Option<&str> {
        self.inner.other_server.as_deref()
    }

    /// Whether the server's keys are in a KMS that can be asked.
    pub(super) fn has_kms(&self) -> bool {
        self.inner.has_kms
    }

    pub(super) fn honesty(&self) -> &OnceCell<()> {
        &self.honesty
    }

    pub(super) fn clock_ahead(&self) -> Option<i64> {
        self.inner.clock.ahead()
    }

    pub(super) fn pace(&self) -> &Pace {
        &self.inner.pace
    }

    /// The bucket's name, as requests want it.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.settings.bucket
    }

    /// The account that every request has to name as the bucket's owner, where one is pinned.
    #[must_use]
    pub fn expected_bucket_owner(&self) -> Option<String> {
        self.settings.expected_bucket_owner.clone()
    }

    /// The region that requests are sent to.
    #[must_use]
    pub fn region(&self) -> Option<String> {
        self.inner.s3.config().region().map(ToString::to_string)
    }

    /// Whether the service has accepted a request that named the pinned owner, so that the owner is right.
    pub(crate) fn owner_has_passed(&self) -> bool {
        self.inner.owner_passed.load(Ordering::Relaxed)
    }

    /// The service has accepted a request that named the pinned owner.
    pub(crate) fn owner_passes(&self) {
        self.inner.owner_passed.store(true, Ordering::Relaxed);
    }

    /// The client of S3. It does not retry by itself.
    #[must_use]
    pub fn s3(&self) -> &aws_sdk_s3::Client {
        &self.inner.s3
    }

    /// The client of KMS.
    #[must_use]
    pub fn kms(&self) -> &aws_sdk_kms::Client {
        &self.inner.kms
    }

    /// The client of STS.
    #[must_use]
    pub fn sts(&self) -> &aws_sdk_sts::Client {
        &self.inner.sts
    }
}
