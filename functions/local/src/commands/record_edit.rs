//! What commands that edit records have in common: the estate, and what they say.

use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::session::Session;
use crate::whole_file::{self, Readers};
use engine::Target;
use engine::estate::Estate;
use language::diagnostics::Diagnostic;
use records::Opening;
use runs::contract::ContractTerms;
use runs::edit::{Edited, Editor};
use runs::{RunError, migrate};
use values::address::AddressError;
use views::product::TERRAFORM_VERSION;

/// An estate whose records are to be edited.
pub(super) struct Editable {
    pub(super) estate: Estate,
    contract: Option<ContractTerms>,
    terms: engine::transaction::Terms,
}

impl Editable {
    /// # Errors
    /// Where the estate has no records, or its store cannot be opened.
    pub(super) async fn open(session: &Session) -> Result<Editable, Failure> {
        Editable::find(session).await?.ok_or_else(no_records)
    }

    /// `None` where the estate has no records.
    ///
    /// # Errors
    /// Where its store cannot be opened.
    pub(super) async fn find(session: &Session) -> Result<Option<Editable>, Failure> {
        let Some((estate, contract)) = session.estate(Opening::Existing).await? else {
            return Ok(None);
        };
        let header = estate.read_header().await.map_err(RunError::from)?;
        let terms = session.project()?.project.terms();
        Ok(header.map(|_| Editable { estate, contract, terms }))
    }

    pub(super) fn editor(&self, session: &Session) -> Editor<'_> {
        Editor {
            estate: &self.estate,
            contract: self.contract.as_ref(),
            terms: self.terms,
            principal: session.principal(),
        }
    }

    /// Keeps the records as a state file, where `-backup` says so.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(super) async fn back_up(&self, session: &Session, flags: &Flags) -> Result<(), Failure> {
        let Some(name) = flags.value("backup").filter(|name| *name != "-") else { return Ok(()) };
        let text = migrate::state_as_file(&self.estate, TERRAFORM_VERSION).await?;
        let path = session.directory.path.join(name);
        whole_file::write(&path, &text, Readers::Owner).map_err(|error| {
            let detail = format!("{name}: {error}. Nothing was changed.");
            Failure::error("Failed to write the backup of the state", detail)
        })
    }
}

/// Says what went wrong on the way; what was decided, and whether all of it was recorded.
pub(super) fn report<T>(session: &Session, edited: Edited<T>) -> (T, bool) {
    session.reporter.report(edited.warnings);
    let complete = edited.errors.is_empty();
    let errors = edited.errors.into_iter();
    session.reporter.report(errors.map(|error| Diagnostic::error(error.summary, error.detail)));
    (edited.told, complete)
}

/// An address as a person writes it.
///
/// # Errors
/// Where it is none.
pub(super) fn target(text: &str) -> Result<Target, Failure> {
    text.parse().map_err(|error: AddressError| {
        UsageError::other(&format!("Invalid address {text:?}"), format!("{}.", error.reason)).into()
    })
}

pub(super) fn no_records() -> Failure {
    Failure::error(
        "No state file was found!",
        "State management commands require records. This estate has none yet: run this command in a directory where \"plumb apply\" has been run.",
    )
}
