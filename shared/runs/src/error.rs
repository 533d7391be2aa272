use crate::edit::EditRefusal;
use crate::force_release::NoSuchTransaction;
use engine::editing::EditError;
use engine::estate::{AdoptionError, CopyError, EstateError, PushError, TakeOverError};
use engine::existing_state::ExistingStateError;
use engine::saved_plan::{SavedPlanError, SigningError};
use engine::state_file::StateFileError;
use engine::transaction::TransactionError;
use engine::verdict::RejectCode;
use language::diagnostics::Diagnostic;
use records::contract::ContractError;

/// A handler could not do its work. What is wrong with a configuration or a provider is in the
/// diagnostics of its outcome instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The records cannot be read or written.
    #[error(transparent)]
    Estate(#[from] EstateError),
    /// The store does not keep its contract.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// What is open about an instance cannot be decided.
    #[error(transparent)]
    Adoption(#[from] AdoptionError),
    /// What was asked for cannot be done to the records.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Others are at work on records that were to be edited.
    #[error(transparent)]
    EditRefused(#[from] EditRefusal),
    /// No transaction can be told by what was given.
    #[error(transparent)]
    NoSuchTransaction(#[from] NoSuchTransaction),
    /// An estate cannot be copied to another store.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A state file cannot be read.
    #[error("{file} cannot be taken over, and nothing of it was: {source}")]
    StateFile {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: StateFileError,
    },
    /// A state cannot be recorded.
    #[error(transparent)]
    TakeOver(#[from] TakeOverError),
    /// A state is not put in place of what is recorded.
    #[error(transparent)]
    Push(#[from] PushError),
    /// The records cannot be said in a state file.
    #[error("the records cannot be written as a state file: {0}")]
    StateUnwritable(#[source] values::json::JsonError),
    /// State may exist elsewhere.
    #[error(transparent)]
    ExistingState(#[from] ExistingStateError),
    /// The plan cannot be read or written.
    #[error(transparent)]
    SavedPlan(#[from] SavedPlanError),
    /// The key that authenticates plans cannot be used.
    #[error(transparent)]
    Signing(#[from] SigningError),
    /// The transaction cannot begin or go on.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
}

impl RunError {
    /// What programs know the refusal of a plan by, where it is one.
    pub fn code(&self) -> Option<RejectCode> {
        match self {
            RunError::Transaction(
                TransactionError::Busy { .. } | TransactionError::Unsettled { .. },
            ) => Some(RejectCode::Busy),
            RunError::Transaction(TransactionError::Used { .. }) => Some(RejectCode::Unauthentic),
            // A file that says nothing that can be believed.
            RunError::SavedPlan(
                SavedPlanError::NotAPlan
                | SavedPlanError::WrongLength { .. }
                | SavedPlanError::Damaged { .. }
                | SavedPlanError::UnknownFormat { .. }
                | SavedPlanError::TooLarge { .. },
            ) => Some(RejectCode::Unauthentic),
            _ => None,
        }
    }

    /// As it is reported beside the diagnostics of a configuration.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let summary = match self {
            RunError::Estate(_) => "Failed to read or write the records",
            RunError::Adoption(AdoptionError::Estate(_)) => "Failed to read or write the records",
            RunError::Adoption(_) => "Nothing was adopted or dismissed",
            RunError::NoSuchTransaction(_)
            | RunError::Transaction(
                TransactionError::NotAtWork { .. } | TransactionError::AliveHere { .. },
            ) => "Nothing was released",
            RunError::Edit(error) => error.summary(),
            RunError::EditRefused(EditRefusal::Busy(_)) => "The records are in use",
            RunError::EditRefused(_) => "The records were not changed",
            RunError::Contract(_) => "The store of records is refused",
            RunError::Copy(_) => "The records cannot be copied",
            RunError::StateFile { .. } | RunError::TakeOver(_) => "The state cannot be taken over",
            RunError::Push(_) => "Failed to write state",
            RunError::StateUnwritable(_) => "The state cannot be written",
            RunError::ExistingState(_) => "State may exist elsewhere",
            RunError::SavedPlan(
                SavedPlanError::Unwritable { .. } | SavedPlanError::Ephemeral { .. },
            ) => "Failed to write plan file",
            RunError::SavedPlan(_) => "Failed to read plan file",
            RunError::Signing(_) => "Failed to authenticate the plan",
            RunError::Transaction(TransactionError::Busy { .. }) => "The plan is being applied",
            RunError::Transaction(TransactionError::Used { .. }) => "The plan was used already",
            RunError::Transaction(TransactionError::Unsettled { .. }) => {
                "What an earlier run left is not settled"
            }
            RunError::Transaction(TransactionError::Clocks { .. }) => {
                "This machine's clock is wrong"
            }
            RunError::Transaction(_) => "The transaction cannot go on",
        };
        Diagnostic::error(summary, sentence(&self.to_string()))
    }
}

/// Our errors are clauses; a diagnostic's detail is made of sentences. A name that one begins with stays as it is.
pub fn sentence(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches([',', ':', ';']);
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"'-".contains(&byte));
    let mut chars = text.chars();
    let first = match chars.next() {
        Some(first) if is_plain => first.to_uppercase().to_string(),
        first => first.map(String::from).unwrap_or_default(),
    };
    let rest = chars.as_str();
    let end = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{rest}{end}")
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn names_that_a_sentence_begins_with_stay_as_they_are() {
        assert_eq!(sentence("nothing was done"), "Nothing was done.");
        assert_eq!(sentence("no, it was not!"), "No, it was not!");
        assert_eq!(sentence("pulled.tfstate is no state"), "pulled.tfstate is no state.");
        assert_eq!(sentence("s3://bucket/key: gone"), "s3://bucket/key: gone.");
        assert_eq!(sentence("test_thing.a has an object"), "test_thing.a has an object.");
        assert_eq!(sentence(""), ".");
    }
}
