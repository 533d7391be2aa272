//! The contract of the store that an estate is in: asserted at first contact and before every apply.

use crate::error::RunError;
use engine::estate::{Estate, EstateError, EstateHeader, FirstContactError};
use language::diagnostics::Diagnostic;
use records::contract::{self, Access, Note, Report, Setting, StoreContract, Waivers};
use std::sync::Arc;

/// A contract, and what of it a team does without.
#[derive(Clone)]
pub struct ContractTerms {
    /// What the stores have to guarantee.
    pub contract: Arc<dyn StoreContract>,
    /// What `allow_insecure` names.
    pub waivers: Waivers,
}

impl ContractTerms {
    /// Every finding, for whoever asks.
    pub async fn inspect(&self) -> Report {
        contract::inspect(&*self.contract, Access::Write, &self.waivers).await
    }
}

/// Asserts the contract, where there is one, before records are written: the warnings that the run has to show.
///
/// # Errors
/// Where the store is refused.
pub(crate) async fn assert(terms: Option<&ContractTerms>) -> Result<Vec<Diagnostic>, RunError> {
    let Some(terms) = terms else { return Ok(Vec::new()) };
    let notes = contract::assert(&*terms.contract, Access::Write, &terms.waivers).await?;
    Ok(warnings(notes))
}

/// The lines that waivers cost a run that does not write records, and so does not ask the store about its settings.
pub(crate) fn reminders(terms: Option<&ContractTerms>) -> Vec<Diagnostic> {
    let waived = terms.into_iter().flat_map(|terms| terms.waivers.iter());
    let reminder = |setting: Setting| {
        let text = format!("allow_insecure waives {setting}: {}", setting.protects());
        warning(setting, text)
    };
    waived.map(reminder).collect()
}

/// Makes the estate, unless it is there already. No header where this identity may only read: then somebody else
/// makes it, and a plan for the estate it will be is as good.
///
/// # Errors
/// Where the store is refused, or fails.
pub async fn first_contact(
    estate: &Estate,
    terms: Option<&ContractTerms>,
) -> Result<(Option<EstateHeader>, Vec<Diagnostic>), RunError> {
    let contact = match terms {
        None => estate.create_if_absent().await.map(|_| Vec::new()).map_err(RunError::from),
        Some(ContractTerms { contract, waivers }) => {
            estate.first_contact(&**contract, waivers).await.map_err(RunError::from)
        }
    };
    match contact {
        Ok(notes) => Ok((estate.read_header().await?, warnings(notes))),
        Err(RunError::Estate(EstateError::Store(error))) if error.is_denial() => {
            // Who only plans is meant to be denied this: what the service says of it would only alarm.
            let warning = Diagnostic::warning(
                "The estate has no records yet",
                "The identity at work may not make them. The plan is made for the estate that the first apply makes.",
            );
            Ok((None, vec![warning]))
        }
        Err(error) => Err(error),
    }
}

fn warnings(notes: Vec<Note>) -> Vec<Diagnostic> {
    notes.into_iter().map(|note| warning(note.setting, note.text)).collect()
}

fn warning(setting: Setting, text: String) -> Diagnostic {
    Diagnostic::warning(format!("The contract of the store: {setting}"), text)
}

impl From<FirstContactError> for RunError {
    fn from(error: FirstContactError) -> RunError {
        match error {
            FirstContactError::Estate(error) => error.into(),
            FirstContactError::Refused(error) => error.into(),
        }
    }
}
