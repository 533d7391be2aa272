//! Dropping records, so that their objects are nobody's.

use super::selection::matching;
use super::{Edit, EditError, Edits};
use crate::planning::Target;
use crate::state::State;
use values::address::ResourceInstance;

/// Drops all that the addresses mean; the instances, in the order in which they are told of.
///
/// # Errors
/// Where nothing is recorded at any of them.
pub fn forget(
    state: &State,
    targets: &[Target],
) -> Result<(Vec<ResourceInstance>, Edits), EditError> {
    let (mut told, mut edits) = (Vec::new(), Edits::default());
    for target in targets {
        for address in matching(state, target) {
            if !matches!(target, Target::Instance(_)) {
                edits.whole.insert(address.containing());
            }
            if edits.by_instance.insert(address.clone(), Edit::Forget).is_none() {
                told.push(address);
            }
        }
    }
    match told.is_empty() {
        true => Err(EditError::NothingToForget),
        false => Ok((told, edits)),
    }
}
