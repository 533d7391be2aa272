//! Importing: an object that exists becomes the record of an instance.

use crate::adopt::ObjectRequest;
use crate::edit::{Edited, Editor};
use crate::error::RunError;
use crate::workplace::Workplace;
use engine::editing::{EditError, record_import};
use engine::estate::EstateReading;
use engine::identifiers::Principal;
use language::diagnostics::Diagnostics;

/// Has a provider find an object, and records it. `None` where the provider did not find it, or the configuration has
/// errors.
///
/// # Errors
/// Where the instance has an object, or others work on it; where the store is refused or fails.
pub async fn import(
    workplace: &Workplace,
    request: ObjectRequest,
    principal: Principal,
) -> Result<(Option<Edited<()>>, Diagnostics), RunError> {
    let ObjectRequest { source, variables, address, id } = request;
    let estate = &workplace.estate;
    let state = estate.read().await?.state;
    // Before a provider is asked for anything.
    if state.instances.contains_key(&address) {
        return Err(EditError::AlreadyManaged(Box::new(address)).into());
    }
    let context = workplace.context();
    let (object, diagnostics) =
        context.find(&source.configuration, variables, state, &address, &id).await;
    let Some(object) = object else { return Ok((None, diagnostics)) };
    let editor =
        Editor { estate, contract: workplace.contract.as_ref(), terms: workplace.terms, principal };
    let decide =
        |reading: &EstateReading| Ok(((), record_import(&reading.state, &address, &object)?));
    Ok((Some(editor.edit(decide).await?), diagnostics))
}
