//! Adopting: a result or an object that the records leave open becomes a record.

use crate::error::RunError;
use crate::source::Source;
use crate::workplace::Workplace;
use engine::Variables;
use engine::estate::{Adopted, Estate};
use engine::identifiers::{Principal, RunId};
use language::diagnostics::Diagnostics;
use values::address::ResourceInstance;

/// Records the result of a run that was kept beside its record; `run` where there are several.
///
/// # Errors
/// Where there is none, or a transaction works on the instance.
pub async fn adopt_stray(
    estate: &Estate,
    address: &ResourceInstance,
    run: Option<&RunId>,
    principal: &Principal,
) -> Result<Adopted, RunError> {
    Ok(estate.adopt_stray(address, run, principal).await?)
}

/// Records a result that the store had not taken, from the file that it was kept in.
///
/// # Errors
/// Where the file is something else, or a transaction works on the instance.
pub async fn adopt_file(
    estate: &Estate,
    address: &ResourceInstance,
    file: &str,
    content: &[u8],
    principal: &Principal,
) -> Result<Adopted, RunError> {
    Ok(estate.adopt_file(address, file, content, principal).await?)
}

/// An object that exists, by what its provider calls it.
#[derive(Clone, Debug)]
pub struct ObjectRequest {
    /// The configuration, which says how the provider is reached.
    pub source: Source,
    /// Values of root variables.
    pub variables: Variables,
    /// The instance whose create is in doubt.
    pub address: ResourceInstance,
    /// The identifier.
    pub id: String,
}

/// Has a provider find an object, and records it where a create was in doubt. `None` where the provider did not find
/// it, or the configuration has errors.
///
/// # Errors
/// Where nothing is in doubt, the instance has an object, or a transaction works on it.
pub async fn adopt_object(
    workplace: &Workplace,
    request: ObjectRequest,
    principal: &Principal,
) -> Result<(Option<Adopted>, Diagnostics), RunError> {
    let ObjectRequest { source, variables, address, id } = request;
    // Before a provider is asked for anything.
    workplace.estate.check_doubtful(&address).await?;
    let state = workplace.estate.read().await?.state;
    let context = workplace.context();
    let (object, diagnostics) =
        context.import(&source.configuration, variables, state, &address, &id).await;
    let adopted = match object {
        Some(object) => {
            Some(workplace.estate.adopt_object(&address, &id, &object, principal).await?)
        }
        None => None,
    };
    Ok((adopted, diagnostics))
}
