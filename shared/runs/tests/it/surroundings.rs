//! A clock that stands still, randomness that counts, and no cloud.

use async_trait::async_trait;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use engine::clock::Clock;
use engine::random::Random;
use jiff::Timestamp;
use records::kubernetes::{ClusterAccess, ManagedCluster};
use runs::stores::StoreSurroundings;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Stands still until it is set.
pub(crate) struct SetClock(AtomicI64);

impl SetClock {
    pub(crate) fn at(seconds: i64) -> SetClock {
        SetClock(AtomicI64::new(seconds))
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst).unsigned_abs())
    }
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Counts from `first`, so that two of them stay apart.
    pub(crate) fn from(first: u64) -> Counter {
        Counter(AtomicU64::new(first))
    }
}

impl Random for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        let next = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        bytes.iter_mut().zip(next.iter().rev().cycle()).for_each(|(byte, next)| *byte = *next);
    }
}

/// Credentials of AWS for a bucket on this machine, and no cluster.
pub(crate) struct OneBucket;

#[async_trait]
impl StoreSurroundings for OneBucket {
    async fn aws(&self, _profile: Option<&str>) -> SdkConfig {
        let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "secret", None, None, "test");
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .build()
    }
    fn cluster(&self, _context: Option<&str>) -> ClusterAccess {
        panic!("no cluster is asked")
    }
    fn provider_token(&self, _cluster: &ManagedCluster) -> Option<String> {
        panic!("no provider of clusters is asked")
    }
}

/// No cloud and no cluster.
pub(crate) struct Nowhere;

#[async_trait]
impl StoreSurroundings for Nowhere {
    async fn aws(&self, _profile: Option<&str>) -> SdkConfig {
        panic!("no cloud is asked")
    }
    fn cluster(&self, _context: Option<&str>) -> ClusterAccess {
        panic!("no cluster is asked")
    }
    fn provider_token(&self, _cluster: &ManagedCluster) -> Option<String> {
        panic!("no provider of clusters is asked")
    }
}
