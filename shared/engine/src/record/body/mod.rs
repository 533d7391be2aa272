//! Bodies of records, as JSON.
//!
//! Fields that this version does not know are kept when a body is written again; a format that it does
//! not know is refused. Errors name the key and never quote the body, which may hold secrets.

mod checks;
mod decision;
mod estate;
mod instance;
mod journal;
mod object;
mod output;
mod path;
mod transaction;
mod workspace;

pub(crate) use checks::ChecksBody;
pub use decision::{Decided, DecisionBody};
pub use estate::{EstateBody, Seal};
pub use instance::{
    Claim, ClaimState, ClaimedAction, ClaimedObject, Doubt, InstanceBody, MovedFrom,
    ProvisionersStanding, RecordKind,
};
pub use journal::{JournalBody, JournalEntry, JournalOutcome};
pub(crate) use object::SharedAddresses;
pub use object::{IdentityBody, ObjectBody, ObjectStatusBody};
pub use output::OutputBody;
pub use path::{PathBody, StepBody};
pub use transaction::{Phase, TransactionBody, UNSAVED};
pub use workspace::WorkspaceBody;

use crate::identifiers::{PlanId, Principal, RunId};
use records::Key;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The format of all bodies that this version reads and writes.
pub const FORMAT: u32 = 1;

/// Fields that this version does not know.
pub type UnknownFields = serde_json::Map<String, serde_json::Value>;

/// Who wrote a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenBy {
    /// The transaction, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<PlanId>,
    /// The run.
    pub run: RunId,
    /// Who started the run.
    pub principal: Principal,
}

/// A body cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A newer version wrote it.
    #[error(
        "the record {key} has format {found}, and this version of Plumbline knows {FORMAT}. It was left \
         alone, so that nothing in it is lost; use the version that wrote it, or a newer one"
    )]
    UnknownFormat {
        /// The record.
        key: Key,
        /// Its format.
        found: u64,
    },
    /// It is cut off, or no JSON, or not what the format says.
    #[error(
        "the record {key} is damaged: {problem}. Nothing was planned or changed on the ground of it; restore an \
         earlier version of this one key from the store's history"
    )]
    Damaged {
        /// The record.
        key: Key,
        /// What is wrong with it, without its content.
        problem: String,
    },
    /// A value cannot be written into a body.
    #[error("the record {key} cannot be written: {problem}")]
    Unwritable {
        /// The record.
        key: Key,
        /// What is wrong, without the value.
        problem: String,
    },
}

impl BodyError {
    pub(crate) fn damaged(key: &Key, problem: impl Into<String>) -> BodyError {
        BodyError::Damaged { key: key.clone(), problem: problem.into() }
    }
    pub(crate) fn unwritable(key: &Key, problem: impl Into<String>) -> BodyError {
        BodyError::Unwritable { key: key.clone(), problem: problem.into() }
    }
}

/// A kind of body.
pub trait Body: Serialize + DeserializeOwned {
    /// The format that it says it has.
    fn format(&self) -> u32;
}

/// Reads a body.
///
/// # Errors
/// Where it is damaged or of an unknown format.
pub fn decode<B: Body>(key: &Key, bytes: &[u8]) -> Result<B, BodyError> {
    match serde_json::from_slice::<B>(bytes) {
        Ok(body) if body.format() == FORMAT => Ok(body),
        Ok(body) => Err(BodyError::UnknownFormat { key: key.clone(), found: body.format().into() }),
        Err(error) => Err(refusal(key, bytes, &error)),
    }
}

/// A format that is not known explains everything else that is not as expected.
fn refusal(key: &Key, bytes: &[u8], error: &serde_json::Error) -> BodyError {
    #[derive(Deserialize)]
    struct Format {
        format: u64,
    }
    if let Ok(Format { format }) = serde_json::from_slice(bytes)
        && format != u64::from(FORMAT)
    {
        return BodyError::UnknownFormat { key: key.clone(), found: format };
    }
    let what = match error.classify() {
        serde_json::error::Category::Eof if bytes.is_empty() => "it is empty".into(),
        serde_json::error::Category::Eof => {
            format!("it ends too early, after {} bytes", bytes.len())
        }
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            format!("it is not JSON at line {}, column {}", error.line(), error.column())
        }
        serde_json::error::Category::Data => format!(
            "a field is missing, or not of the kind it should be, before line {}, column {}",
            error.line(),
            error.column()
        ),
    };
    BodyError::damaged(key, what)
}

/// Writes a body.
///
/// # Errors
/// Where something in it is no JSON.
pub fn encode<B: Body>(key: &Key, body: &B) -> Result<bytes::Bytes, BodyError> {
    serde_json::to_vec(body)
        .map(bytes::Bytes::from)
        .map_err(|_| BodyError::unwritable(key, "it holds something that JSON cannot"))
}
