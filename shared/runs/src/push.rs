//! Putting a state file in place of an estate's records.

use crate::contract;
use crate::edit::Editor;
use crate::error::RunError;
use engine::estate::PushRules;
use engine::state_file;
use language::diagnostics::Diagnostic;
use sha2::{Digest, Sha256};

/// How much of a file's digest tells it from others.
const DIGITS: usize = 12;

/// What came of a push.
#[derive(Debug)]
pub struct Pushed {
    /// How many records were written; none where all said so already.
    pub written: usize,
    /// What the store's contract says.
    pub warnings: Vec<Diagnostic>,
}

/// Makes an estate's records say what a state file of Terraform says, and nothing else.
///
/// # Errors
/// Where the file cannot be read as a whole, lineage and serial forbid it, somebody works on the estate, or the store is refused or
/// fails.
pub async fn push(
    editor: &Editor<'_>,
    name: &str,
    file: &[u8],
    rules: PushRules,
) -> Result<Pushed, RunError> {
    let estate = editor.estate;
    let read = |source| RunError::StateFile { file: name.to_owned(), source };
    let state = state_file::read(file).map_err(read)?;
    let warnings = contract::assert(editor.contract).await?;
    // What dead runs left on the estate's list, and what may be taken off it.
    if let Ok(Some(header)) = estate.read_header().await
        && !header.under_way.is_empty()
    {
        let transaction = editor.begin().await?;
        let reading = estate.read().await?;
        transaction.execute(reading, None).await?.commit().await?;
    }
    let digest = hex::encode(Sha256::digest(file));
    let from = format!("{name} (SHA-256 {}...)", digest.get(..DIGITS).unwrap_or_default());
    let written = estate.push(&state, &from, &editor.principal, rules).await?;
    Ok(Pushed { written, warnings })
}
