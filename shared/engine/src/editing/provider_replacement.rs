//! Recording objects as another provider's, which took over from the one that made them.

use super::{Edit, Edits};
use crate::state::State;
use std::collections::BTreeSet;
use values::address::{AbsoluteResource, ProviderAddress};

/// Makes all objects of one provider another one's; the resources that have some, in order.
pub fn replace_provider(
    state: &State,
    from: &ProviderAddress,
    to: &ProviderAddress,
) -> (BTreeSet<AbsoluteResource>, Edits) {
    let mut edits = Edits::default();
    for (address, instance) in &state.instances {
        let mut objects = instance.current.iter().chain(instance.deposed.values());
        if objects.any(|object| object.provider.provider == *from) {
            edits.whole.insert(address.containing());
            let edit = Edit::ReplaceProvider { from: from.clone(), to: to.clone() };
            edits.add(address.clone(), edit);
        }
    }
    (edits.whole.clone(), edits)
}
