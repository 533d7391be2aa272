//! The contract of a bucket, and the causes of what a service refuses, from the bytes that AWS documents.

mod canned;
mod causes;
mod clock;
#[cfg(feature = "kubernetes")]
mod documented;
mod key_of_bucket;
mod lifecycle_rules;
mod policies;
pub(crate) mod pretenders;
mod readings;
