//! The server's clock, as its answers tell it.

use aws_sdk_s3::config::interceptors::BeforeDeserializationInterceptorContextRef;
use aws_sdk_s3::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_s3::error::BoxError;
use aws_sdk_s3::primitives::{DateTime, DateTimeFormat};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::UNIX_EPOCH;

/// What an answer without a usable date leaves.
const UNKNOWN: i64 = i64::MIN;

/// How far the server's clock is ahead of this machine's, as of the last answer. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct ServerClock(Arc<AtomicI64>);

impl ServerClock {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(UNKNOWN)))
    }

    /// In seconds; `None` before the first answer.
    pub(super) fn ahead(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ahead| *ahead != UNKNOWN)
    }
}

impl Intercept for ServerClock {
    fn name(&self) -> &'static str {
        "ServerClock"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        components: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let date = context.response().headers().get("date");
        let date = date.and_then(|date| DateTime::from_str(date, DateTimeFormat::HttpDate).ok());
        let now =
            components.time_source().and_then(|time| time.now().duration_since(UNIX_EPOCH).ok());
        if let (Some(date), Some(now)) = (date, now)
            && let Ok(now) = i64::try_from(now.as_secs())
        {
            self.0.store(date.secs() - now, Ordering::Relaxed);
        }
        Ok(())
    }
}
