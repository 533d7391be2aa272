//! Moving an estate to another store.

use crate::contract::{self, ContractTerms};
use crate::error::RunError;
use engine::estate::Estate;
use language::diagnostics::Diagnostic;

/// An estate on its way from one store to another.
pub struct StoreMigration<'a> {
    /// Where the records are.
    pub from: &'a Estate,
    /// Where they go.
    pub to: &'a Estate,
    /// What the new store has to guarantee.
    pub terms: Option<&'a ContractTerms>,
}

/// What a migration came to.
#[derive(Debug)]
pub struct Migrated {
    /// How many records there are; `None` where an earlier call had finished already.
    pub records: Option<usize>,
    /// What the new store's contract says.
    pub warnings: Vec<Diagnostic>,
}

impl StoreMigration<'_> {
    /// Copies and verifies all records, and seals the old place. Killed anywhere, the same call goes on.
    ///
    /// # Errors
    /// Where the new store is refused, either place is in use, or a store fails.
    pub async fn run(&self) -> Result<Migrated, RunError> {
        let warnings = contract::assert(self.terms).await?;
        let records = self.from.copy_to(self.to).await?;
        Ok(Migrated { records, warnings })
    }

    /// Gives up a migration that was never finished.
    ///
    /// # Errors
    /// Where it was finished, or a store fails.
    pub async fn abandon(&self) -> Result<(), RunError> {
        Ok(self.from.abandon_copy_to(self.to).await?)
    }
}
