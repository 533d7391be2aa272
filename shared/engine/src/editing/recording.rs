//! Recording an object that exists.

use super::{Edit, EditError, Edits};
use crate::object::StoredObject;
use crate::state::State;
use values::address::ResourceInstance;

/// Records an object that a provider has found.
///
/// # Errors
/// Where the instance has objects already.
pub fn record_import(
    state: &State,
    address: &ResourceInstance,
    object: &StoredObject,
) -> Result<Edits, EditError> {
    match state.instances.contains_key(address) {
        true => Err(EditError::AlreadyManaged(Box::new(address.clone()))),
        false => Ok(Edits::of_one(address.clone(), Edit::Import(Box::new(object.clone())))),
    }
}
