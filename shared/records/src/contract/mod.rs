//! What a store must guarantee before records are kept in it: its contract.
//!
//! A store of records is trusted with what cannot be had again. Each property it must have is a
//! [`Setting`]; looking at one gives a [`Finding`] with an [`Outcome`], what it protects and how to mend
//! it. A [`StoreContract`] answers all findings of one store, always all and in one order, and a [`Report`]
//! decides: a run refuses the store, or proceeds and says what it has to.
//!
//! - [`assert`] is asked before every apply.
//! - [`first_contact`] is asked when an estate is new to its store: it makes the sentinel, sees that it is
//!   listed, asserts the contract, and takes the sentinel away again where the store is refused.
//! - [`inspect`] gives the report for people and programs that ask at any time.

mod finding;
mod report;
mod waiver;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

pub use finding::{Finding, Outcome, Remedy, Setting, StoreKind};
pub use report::{Decision, Note, NoteKind, Refusal, Report, ReportedFinding};
pub use waiver::{WaiverError, Waivers};

use crate::{Key, RecordStore, StoreError, Version};

/// What the run that asks is about to do with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Read records, as a plan does.
    Read,
    /// Write them, as an apply and the first contact do.
    Write,
}

/// The findings of one store.
#[async_trait]
pub trait StoreContract: Send + Sync {
    /// Where the store is, for messages.
    fn location(&self) -> String;

    /// The settings this contract looks at, in the order of its findings. The same on every call.
    fn settings(&self) -> Vec<Setting>;

    /// Looks at every setting. A setting that cannot be read is a finding too, never an error; one that is
    /// missing from the answer counts as failed.
    async fn check(&self, access: Access) -> Vec<Finding>;
}

#[async_trait]
impl<C: StoreContract + ?Sized> StoreContract for Arc<C> {
    fn location(&self) -> String {
        (**self).location()
    }

    fn settings(&self) -> Vec<Setting> {
        (**self).settings()
    }

    async fn check(&self, access: Access) -> Vec<Finding> {
        (**self).check(access).await
    }
}

/// The contracts of several stores as one: records in one kind of store and artifacts in another.
pub struct Contracts(pub Vec<Arc<dyn StoreContract>>);

#[async_trait]
impl StoreContract for Contracts {
    fn location(&self) -> String {
        let locations: Vec<_> = self.0.iter().map(|contract| contract.location()).collect();
        locations.join(" and ")
    }

    fn settings(&self) -> Vec<Setting> {
        self.0.iter().flat_map(|contract| contract.settings()).collect()
    }

    async fn check(&self, access: Access) -> Vec<Finding> {
        let mut findings = Vec::new();
        for contract in &self.0 {
            findings.extend(contract.check(access).await);
        }
        findings
    }
}

/// Why a run does not use a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContractError {
    /// A setting that the store must have is missing, and was not waived.
    #[error(transparent)]
    Refused(Box<Refusal>),

    /// What was written under a key does not appear when the store is listed: planning reads records from
    /// lists, and would not see what it has made.
    #[error(
        "{location} is refused: {key} was written and is not in the listing. A plan reads records from \
         one listing and would make again what it does not see. Use a store whose listings are consistent, \
         and see that the identity may list the whole prefix"
    )]
    NotListed {
        /// The store.
        location: String,
        /// The key of the sentinel.
        key: Key,
    },

    /// The store was refused, and the sentinel that first contact had made could not be taken away.
    #[error("{refused}\n\nThe sentinel {key} is still there and was not removed: {cause}")]
    SentinelKept {
        /// Why the store was refused.
        refused: Box<ContractError>,
        /// The key of the sentinel.
        key: Key,
        /// Why it could not be removed. Part of the message, and so not a source of the error.
        cause: Box<StoreError>,
    },

    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Looks at every setting and says what the waivers make of it.
pub async fn inspect(contract: &dyn StoreContract, access: Access, waivers: &Waivers) -> Report {
    let findings = contract.check(access).await;
    Report::new(contract.location(), &contract.settings(), findings, waivers)
}

/// Asserts the contract before records are written: the lines that the run has to show.
///
/// # Errors
///
/// [`ContractError::Refused`] when a setting failed or could not be read, and is not waived.
pub async fn assert(
    contract: &dyn StoreContract,
    access: Access,
    waivers: &Waivers,
) -> Result<Vec<Note>, ContractError> {
    match inspect(contract, access, waivers).await.decide() {
        Decision::Proceed(notes) => Ok(notes),
        Decision::Refuse(refusal) => Err(ContractError::Refused(refusal)),
    }
}

/// What the first contact of an estate with its store came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstContact {
    /// The version of the sentinel that was made.
    pub version: Version,
    /// The lines that the run has to show.
    pub notes: Vec<Note>,
}

/// Makes an estate's sentinel in a store that keeps its contract: creates it, sees that it is listed, asserts
/// the contract, and removes it again where the store is refused.
///
/// # Errors
///
/// A [`StoreError::Conflict`] where the sentinel is there already: this is no first contact. Otherwise what the
/// store or its contract refuses.
pub async fn first_contact(
    store: &dyn RecordStore,
    contract: &dyn StoreContract,
    waivers: &Waivers,
    sentinel: &Key,
    body: Bytes,
) -> Result<FirstContact, ContractError> {
    let version = create(store, sentinel, body).await?;
    let refused = match listed(store, sentinel).await {
        Ok(true) => match assert(contract, Access::Write, waivers).await {
            Ok(notes) => return Ok(FirstContact { version, notes }),
            Err(refused) => refused,
        },
        Ok(false) => ContractError::NotListed { location: store.location(), key: sentinel.clone() },
        Err(error) => ContractError::Store(error),
    };
    match store.delete(sentinel, &version).await {
        Ok(()) => Err(refused),
        // Somebody else has begun to use it: it is theirs.
        Err(error) if error.is_conflict() => Err(refused),
        Err(cause) => Err(ContractError::SentinelKept {
            refused: Box::new(refused),
            key: sentinel.clone(),
            cause: Box::new(cause),
        }),
    }
}

/// Creates a record whose body is unique; a lost answer is settled by reading it back.
async fn create(store: &dyn RecordStore, key: &Key, body: Bytes) -> Result<Version, ContractError> {
    match store.put_if_absent(key, body.clone()).await {
        Err(error) if error.leaves_doubt() => match store.get(key).await {
            Ok(Some(record)) if record.body == body => Ok(record.version),
            _ => Err(error.into()),
        },
        outcome => Ok(outcome?),
    }
}

async fn listed(store: &dyn RecordStore, key: &Key) -> Result<bool, StoreError> {
    let entries = store.list(key.as_str()).await?;
    Ok(entries.iter().any(|entry| entry.key == *key))
}
