//! An estate: one root module's records, read as a whole and written one by one.

mod adoption;
mod amend;
mod bodies;
mod checks;
mod compare_and_swap;
mod copying;
mod header;
mod history;
mod journals;
mod outputs;
mod pushing;
mod reading;
mod recorder;
mod removing;
mod snapshot;
mod sweep;
mod taking_over;
mod workspaces;

pub use adoption::{Adopted, AdoptionError};
pub use copying::CopyError;
pub use header::{EstateHeader, FirstContactError};
pub use history::RunHistory;
pub use journals::Journals;
pub use pushing::{PushError, PushRules};
pub use reading::{EstateReading, RecordFacts, StrayFacts};
pub use recorder::{EstateRecorder, Spill};
pub use removing::RemovalError;
pub use taking_over::TakeOverError;

pub(crate) use compare_and_swap::{Swapped, swap, swap_instance};
pub(crate) use recorder::RecorderStart;

use crate::clock::Clock;
use crate::random::Random;
use crate::record::body::{BodyError, Seal};
use crate::record::key::{EstateKeys, EstateName};
use records::{ArtifactStore, Key, RecordStore, StoreError};
use std::sync::Arc;

/// An estate cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstateError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record cannot be read or written.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Others wrote the same record each time we tried.
    #[error(
        "the record {key} was changed by others {attempts} times while it was being written, and was left as \
         it is; run the same command again"
    )]
    Contended {
        /// The record.
        key: Key,
        /// How often it was tried.
        attempts: u32,
    },
    /// The estate is in another store, or on its way.
    #[error(
        "the estate {estate} in {place} is sealed, so that nothing is planned or changed here: {seal}. {}",
        remedy(seal)
    )]
    Sealed {
        /// The estate.
        estate: EstateName,
        /// Its store.
        place: String,
        /// Why.
        seal: Seal,
    },
}

fn remedy(seal: &Seal) -> &'static str {
    match seal {
        Seal::MovedTo(_) => {
            "Name that store in plumb.toml; if its copy was never finished, `plumb migrate-store` goes on with it, \
             and `plumb migrate-store -abandon` opens this one again"
        }
        Seal::ArrivingFrom(_) => "Run `plumb migrate-store` again, which goes on where it stopped",
        Seal::TakingOver(_) => "Run `plumb migrate` again, which begins anew",
        Seal::Removing => "Run `plumb workspace delete` again, which goes on where it stopped",
        Seal::Pushing(_) => {
            "Run `plumb state push` with the same file again, which goes on where it stopped, or push another one with -force"
        }
    }
}

/// The records of one root module.
#[derive(Clone)]
pub struct Estate {
    pub(crate) store: Arc<dyn RecordStore>,
    pub(crate) artifacts: Option<Arc<dyn ArtifactStore>>,
    pub(crate) journals: Journals,
    pub(crate) keys: EstateKeys,
    pub(crate) name: EstateName,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    /// Held while looking whether a transaction lives, which takes its hold for a moment: of two who look at once
    /// in this process one would take the other for who works on it.
    pub(crate) looking: Arc<tokio::sync::Mutex<()>>,
}

impl Estate {
    /// The estate called `name` below `prefix` in a store. Asks the store nothing.
    ///
    /// # Errors
    /// Where the prefix cannot begin a key.
    pub fn open(
        store: Arc<dyn RecordStore>,
        prefix: &str,
        name: EstateName,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Estate, StoreError> {
        let keys = EstateKeys::new(prefix, &name)?;
        let looking = Arc::default();
        let journals = Journals::Records;
        Ok(Estate { store, artifacts: None, journals, keys, name, clock, random, looking })
    }
    /// The estate with a place for its snapshot, which spares a request per record where the store reads
    /// bodies one by one. Its key begins as those of the records do.
    #[must_use]
    pub fn with_artifacts(self, artifacts: Arc<dyn ArtifactStore>) -> Estate {
        Estate { artifacts: Some(artifacts), ..self }
    }
    /// The estate with its journals among the artifacts, if it has any, where they expire as those do: for stores
    /// that list the bodies of all records whatever is asked for.
    #[must_use]
    pub fn with_journals(self, journals: Journals) -> Estate {
        Estate { journals, ..self }
    }
    /// Its name.
    pub fn name(&self) -> &EstateName {
        &self.name
    }
    /// Its keys.
    pub fn keys(&self) -> &EstateKeys {
        &self.keys
    }
    /// Seconds since the epoch, by the clock that it goes by.
    pub fn now(&self) -> i64 {
        self.clock.seconds()
    }
    /// Where its identifiers come from.
    pub fn random(&self) -> Arc<dyn Random> {
        self.random.clone()
    }
    /// Where its records are, for messages.
    pub fn location(&self) -> String {
        self.store.location()
    }
}
