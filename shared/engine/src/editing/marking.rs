//! Marking an object as one to be replaced, and taking that back.

use super::{Edit, EditError, Edits};
use crate::object::{ObjectStatus, StoredObject};
use crate::state::State;
use values::address::ResourceInstance;

/// Marks the current object of an instance as one to be replaced. No edit where it is one already.
///
/// # Errors
/// Where there is no such object.
pub fn taint(state: &State, address: &ResourceInstance) -> Result<Edits, EditError> {
    Ok(match current(state, address)?.status {
        ObjectStatus::Ready => Edits::of_one(address.clone(), Edit::Taint),
        ObjectStatus::Tainted | ObjectStatus::Incomplete => Edits::default(),
    })
}

/// Takes the mark back.
///
/// # Errors
/// Where there is no such object, or it has no such mark.
pub fn untaint(state: &State, address: &ResourceInstance) -> Result<Edits, EditError> {
    match current(state, address)?.status {
        ObjectStatus::Tainted => Ok(Edits::of_one(address.clone(), Edit::Untaint)),
        ObjectStatus::Ready => Err(EditError::NotTainted(Box::new(address.clone()))),
        ObjectStatus::Incomplete => Err(EditError::Incomplete(Box::new(address.clone()))),
    }
}

fn current<'s>(
    state: &'s State,
    address: &ResourceInstance,
) -> Result<&'s StoredObject, EditError> {
    if state.is_empty() {
        return Err(EditError::NoInstances);
    }
    let instance = state.instances.get(address);
    let instance = instance.ok_or_else(|| EditError::NoInstance(Box::new(address.clone())))?;
    instance.current.as_ref().ok_or_else(|| match instance.deposed.keys().next() {
        Some(key) => EditError::OnlyDeposed(Box::new(address.clone()), key.clone()),
        None => EditError::NoInstance(Box::new(address.clone())),
    })
}
