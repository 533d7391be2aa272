//! Stores of records and artifacts: keys, bytes, versions and compare-and-swap.
//!
//! This crate knows nothing of what a body says; formats and the encoding of addresses into keys are
//! the engine's. It keeps two kinds of things:
//!
//! - **Records** ([`RecordStore`]) are small, change often, and change by compare-and-swap only. Each state
//!   of a key has a [`Version`]; a write names the version it has seen and is refused when that is no
//!   longer the present one. There is no lock to hold and none to break.
//! - **Artifacts** ([`ArtifactStore`]) are written whole and read whole: saved plans and bundles, which
//!   never change, and snapshots, which are a cache.
//!
//! # Stores
//!
//! | store | records | artifacts |
//! |---|---|---|
//! | a directory, the default | [`DirectoryStore`] | [`DirectoryArtifacts`] |
//! | a bucket (feature `s3`) | `s3::S3Store` | `s3::S3Artifacts` |
//! | Secrets of a namespace (feature `kubernetes`) | `kubernetes::KubernetesStore` | none |
//! | memory, for tests and simulations | [`MemoryStore`] | [`MemoryArtifacts`] |
//!
//! Every store passes the suite in [`conformance`]; what it checks is what the engine relies on.
//!
//! # Layers
//!
//! Stores stack, each over any other, an `Arc<dyn RecordStore>` included:
//!
//! - [`CountingStore`] keeps account of calls by method, key, accessor and call site.
//! - [`testing::ObservedStore`] shows every write to a test, which may lose the answer or end the process.
//!
//! # Failures
//!
//! Absence is an answer, not an error. [`StoreError::Conflict`] means that another writer was first and
//! nothing was changed. After an error that [leaves doubt](StoreError::leaves_doubt) a write may have been
//! kept: its writer reads back and compares the bytes with those it sent, which is why no two bodies
//! should be alike.

mod account;
mod artifact_store;
pub mod conformance;
pub mod contract;
mod counting;
mod directory;
mod error;
mod key;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
mod memory;
mod record_store;
#[cfg(feature = "s3")]
pub mod s3;
mod service_refusal;
pub mod testing;
mod version;

pub use account::{Account, AccountError, Call};
pub use artifact_store::{ArtifactEntry, ArtifactStore, PutMode};
pub use counting::{Accessor, CountingStore, Counts, Method};
pub use directory::{DirectoryArtifacts, DirectoryStore, Opening, ProcessLock};
pub use error::{FileOperation, StoreError};
pub use key::{Key, KeyFault, MAX_KEY_LENGTH};
pub use memory::{MemoryArtifacts, MemoryStore};
pub use record_store::{BulkRead, Entry, Hold, HoldGuard, Record, RecordStore};
pub use service_refusal::{
    Blame, BlameKind, Denial, KeyProblem, PolicyKind, RefusalCause, ServiceRefusal,
};
pub use version::Version;
