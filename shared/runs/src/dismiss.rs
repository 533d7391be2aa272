//! Dismissing: what the records leave open is dropped.

use crate::error::RunError;
use engine::estate::Estate;
use engine::identifiers::{Principal, RunId};
use engine::transaction::Terms;
use values::address::ResourceInstance;

/// Drops the doubt about an instance and the results beside its record, or the result of one run. Answers how many
/// things that were.
///
/// # Errors
/// Where nothing is open, what is in doubt may still come to pass by `terms`, or a transaction works on the instance.
pub async fn dismiss(
    estate: &Estate,
    address: &ResourceInstance,
    run: Option<&RunId>,
    principal: &Principal,
    terms: &Terms,
) -> Result<usize, RunError> {
    Ok(estate.dismiss(address, run, principal, terms).await?)
}
