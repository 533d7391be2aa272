//! Taking over the state of Terraform, and giving it back.

use crate::contract::{self, ContractTerms};
use crate::error::RunError;
use engine::estate::Estate;
use engine::identifiers::Principal;
use engine::state_file;
use language::diagnostics::Diagnostic;

/// A state file on its way into an estate.
pub struct Migration<'a> {
    /// The file's content.
    pub file: &'a [u8],
    /// What the file is called, for messages and for the estate's record.
    pub name: &'a str,
    /// Where the records go.
    pub to: &'a Estate,
    /// What the store has to guarantee.
    pub terms: Option<&'a ContractTerms>,
}

/// What was taken over.
#[derive(Debug)]
pub struct TakenOver {
    /// How many records there are; `None` where this state was taken over before.
    pub records: Option<usize>,
    /// What the store's contract says.
    pub warnings: Vec<Diagnostic>,
}

impl Migration<'_> {
    /// Records all that the file holds. Killed anywhere, the estate stays sealed and the same call begins anew.
    ///
    /// # Errors
    /// Where the file cannot be read as a whole, the store is refused, or the estate has other records.
    pub async fn run(&self, principal: &Principal) -> Result<TakenOver, RunError> {
        let read = |source| RunError::StateFile { file: self.name.to_owned(), source };
        let state = state_file::read(self.file).map_err(read)?;
        let warnings = contract::assert(self.terms).await?;
        let records = self.to.take_over(&state, self.name, principal).await?;
        Ok(TakenOver { records, warnings })
    }
}

/// An estate's state as a file of Terraform, as `terraform_version` would write it.
///
/// # Errors
/// Where the store fails, or a record cannot be read or said in such a file.
pub async fn state_as_file(estate: &Estate, terraform_version: &str) -> Result<Vec<u8>, RunError> {
    let state = estate.read().await?.state;
    state_file::write(&state, terraform_version).map_err(RunError::StateUnwritable)
}
