//! Saved plans: immutable, authenticated, and complete enough to be checked and applied elsewhere.
//!
//! [`UnverifiedPlan::parse`] reads a file and trusts nothing in it. Only the authenticity stage turns that
//! into an [`AuthenticatedPlan`], and only that gives a plan to apply.

mod container;
mod form;
mod sets;
mod signing;

pub use container::{EncodedPlan, UnsignedPlan};
pub use sets::{read_set, write_set};
pub use signing::{HmacKey, PlanDigest, PlanSignature, PlanSigner, PlanVerifier, SigningError};

use crate::identifiers::PlanId;
use crate::plan::Plan;
use crate::reads::LookedAt;
use crate::record::key::EstateName;
use crate::stages::AuthenticityProof;
use crate::state::{Lineage, Revision};
use crate::verdict::Verdict;
use bytes::Bytes;
use records::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::Path;
use values::address::{AbsoluteResource, ProviderAddress, ResourceInstance, ResourceMode};

/// The format of plan files that this version reads and writes.
pub const FORMAT: u16 = 1;
/// How long a plan may be applied, in seconds, where nothing else is said.
pub const DEFAULT_EXPIRY: i64 = 24 * 60 * 60;
/// The version of this engine: a plan is applied by the version that made it.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A plan with all that it rests on.
#[derive(Clone, Debug)]
pub struct SavedPlan {
    /// Its name, random.
    pub id: PlanId,
    /// When it was made, seconds since the epoch.
    pub created: i64,
    /// When it can no longer be applied.
    pub expires: i64,
    /// The version of the engine that made it.
    pub engine: Arc<str>,
    /// The estate.
    pub estate: EstateName,
    /// The estate's identity; `None` for an estate that had none yet.
    pub lineage: Option<Lineage>,
    /// The estate's serial.
    pub serial: u64,
    /// The configuration.
    pub bundle: Bundle,
    /// The providers that were used.
    pub providers: BTreeMap<ProviderAddress, LockedProvider>,
    /// Instances that are changed, both ends of a move included.
    pub write_set: BTreeMap<ResourceInstance, SetMember>,
    /// Instances that the changes rest on.
    pub read_set: BTreeMap<ResourceInstance, SetMember>,
    /// Resources of which the changes rest on which instances there are.
    pub key_sets: BTreeSet<AbsoluteResource>,
    /// Attributes that the configuration wants ignored (`ignore_changes`), where there are any.
    pub ignored: BTreeMap<ResourceInstance, Vec<Path>>,
    /// Root variables whose values are ephemeral: named, never kept; to be given again.
    pub ephemeral_variables: BTreeSet<Arc<str>>,
    /// What was asked for.
    pub options: PlanOptions,
    /// What the snapshot stage said while planning.
    pub snapshot: Vec<Verdict>,
    /// The plan itself.
    pub plan: Plan,
}

impl SavedPlan {
    /// The instances that are read from the world again before anything is changed: all that are changed, and
    /// those whose values decide what is changed.
    pub fn read_again(&self) -> BTreeSet<ResourceInstance> {
        let read = self.read_set.iter().filter(|(_, member)| member.looked_at.is_compared());
        let all = self.write_set.keys().chain(read.map(|(address, _)| address));
        all.filter(|address| self.plan.refreshed.contains_key(*address)).cloned().collect()
    }

    /// The members whose records decide whether the plan still holds. A data source's record decides
    /// nothing: its value is read again.
    pub fn recorded_members(&self) -> impl Iterator<Item = (&ResourceInstance, &SetMember)> {
        let read = self.read_set.iter();
        let read = read.filter(|(address, _)| address.resource.mode == ResourceMode::Managed);
        self.write_set.iter().chain(read)
    }
}

/// The files of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Content by path, relative to the root module, with `/`.
    pub files: BTreeMap<Arc<str>, Bytes>,
}

impl Bundle {
    /// SHA-256 over all paths and contents, in hexadecimal. Depends on nothing else.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (path, content) in &self.files {
            // Lengths first, so that no two bundles give the same bytes.
            hash.update((path.len() as u64).to_be_bytes());
            hash.update(path.as_bytes());
            hash.update((content.len() as u64).to_be_bytes());
            hash.update(content);
        }
        hex::encode(hash.finalize())
    }
}

/// What the lock file says of one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedProvider {
    /// The version; empty for a provider that is built in.
    pub version: String,
    /// Checksums of its packages (`h1:…`, `zh:…`).
    pub hashes: BTreeSet<String>,
}

/// The state in which a plan saw one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetMember {
    /// The store's version of its record.
    pub version: Version,
    /// Its revision; empty where there was no instance.
    pub revision: Revision,
    /// What the changes looked at of it. Of what is changed itself all is compared, whoever looks at it.
    pub looked_at: LookedAt,
}

/// What was asked for, beside mode and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOptions {
    /// `-target`, as given.
    pub targets: Vec<String>,
    /// `-replace`, as given.
    pub replace: Vec<String>,
    /// Whether the world was not read (`-refresh=false`).
    pub skip_refresh: bool,
}

/// A plan file cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedPlanError {
    /// It is something else.
    #[error("this is not a saved plan; make one with `plumb plan -out=FILE`")]
    NotAPlan,
    /// It ends too early, or goes on too long.
    #[error(
        "the plan file has {found} bytes where {expected} are expected: it was cut off or added to; copy it again"
    )]
    WrongLength {
        /// Bytes that its header announces.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Its content is not what its header says.
    #[error(
        "the plan file is damaged: {problem}; copy it again, or make a new plan with `plumb plan`"
    )]
    Damaged {
        /// What is wrong, without the content.
        problem: String,
    },
    /// Another version wrote it.
    #[error(
        "the plan file has format {found}, and this version of Plumbline reads format {FORMAT}; apply it with the \
         version that made it, or make a new plan with `plumb plan`"
    )]
    UnknownFormat {
        /// Its format.
        found: u16,
    },
    /// It would grow beyond all measure when unpacked.
    #[error(
        "the plan file says that it unpacks to {declared} bytes, and at most {limit} are unpacked; it was not opened"
    )]
    TooLarge {
        /// Bytes that it announces.
        declared: u64,
        /// Bytes that are allowed for a file of its size.
        limit: u64,
    },
    /// A value that must not be kept would be.
    #[error("{place} holds an ephemeral value, which is never stored; the plan was not saved")]
    Ephemeral {
        /// Where.
        place: String,
    },
    /// Something in the plan cannot be written.
    #[error("the plan cannot be saved: {problem}")]
    Unwritable {
        /// What is wrong, without the value.
        problem: String,
    },
    /// No MAC could be made.
    #[error(transparent)]
    Signing(#[from] SigningError),
}

/// A plan read from a file, of which nothing is known but what it says itself.
#[derive(Clone, Debug)]
pub struct UnverifiedPlan {
    digest: PlanDigest,
    signature: PlanSignature,
    plan: SavedPlan,
}

impl UnverifiedPlan {
    /// Reads a file. Its integrity is checked, its origin is not.
    ///
    /// # Errors
    /// Where it is no plan, cut off, damaged, of another format, or unpacks to too much.
    pub fn parse(bytes: &[u8]) -> Result<UnverifiedPlan, SavedPlanError> {
        container::parse(bytes)
    }
    /// The digest of all that it says: what a MAC is made over, and what an approval names.
    pub fn digest(&self) -> &PlanDigest {
        &self.digest
    }
    /// The MAC that came with it.
    pub fn signature(&self) -> &PlanSignature {
        &self.signature
    }
    /// What it says, for showing to people. Nothing may be decided or applied on the ground of it.
    pub fn contents_for_showing(&self) -> &SavedPlan {
        &self.plan
    }
    pub(crate) fn authenticated(self, _proof: AuthenticityProof) -> AuthenticatedPlan {
        AuthenticatedPlan { digest: self.digest, plan: self.plan }
    }
}

/// A plan that is ours, whole, unexpired, unused, and for this configuration and these providers.
#[derive(Clone, Debug)]
pub struct AuthenticatedPlan {
    digest: PlanDigest,
    plan: SavedPlan,
}

impl AuthenticatedPlan {
    /// The digest of all that it says.
    pub fn digest(&self) -> &PlanDigest {
        &self.digest
    }
    /// What it says.
    pub fn contents(&self) -> &SavedPlan {
        &self.plan
    }
    /// What it says, to take apart.
    pub fn into_contents(self) -> SavedPlan {
        self.plan
    }
}
