//! The stores through their public interfaces.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

#[cfg(feature = "s3")]
mod bucket;
#[cfg(feature = "s3")]
mod bucket_settings;
mod conformance;
mod contract;
mod directory;
#[cfg(all(feature = "s3", feature = "kubernetes"))]
mod errors;
mod keys;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod layers;
#[cfg(all(feature = "s3", feature = "kubernetes"))]
mod page;
mod processes;
#[cfg(feature = "s3")]
mod throttling;

use records::{DirectoryStore, Key, Opening};
use std::path::Path;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

async fn created(root: &Path) -> DirectoryStore {
    DirectoryStore::open(root, Opening::Create).await.unwrap()
}
