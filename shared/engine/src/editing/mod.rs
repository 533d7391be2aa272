//! Edits: changes of records that a person asks for and that need no provider, such as a move to another address.
//!
//! An edit is a transaction as an apply is, with the same claims, journal and end, so that it never collides with one. What
//! is decided rests on what the records said; once they are claimed it is decided again, and must come to the same.

mod claims;
mod dependencies;
mod error;
mod execution;
mod forgetting;
mod marking;
mod moving;
mod provider_replacement;
mod recording;
mod selection;

pub use error::EditError;
pub use forgetting::forget;
pub use marking::{taint, untaint};
pub use moving::{Relocation, relocate};
pub use provider_replacement::replace_provider;
pub use recording::record_import;
pub use selection::{identifier, select};

use crate::object::StoredObject;
use std::collections::{BTreeMap, BTreeSet};
use values::address::{AbsoluteResource, ProviderAddress, ResourceInstance};

/// What is done to the record of one instance.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// All its objects are recorded at another address.
    Move(ResourceInstance),
    /// It is dropped; its objects are left to themselves.
    Forget,
    /// The current object is to be replaced.
    Taint,
    /// The current object is whole after all.
    Untaint,
    /// Objects of one provider are another one's.
    ReplaceProvider {
        /// Whose they are.
        from: ProviderAddress,
        /// Whose they become.
        to: ProviderAddress,
    },
    /// An object that exists is recorded, where there was none.
    Import(Box<StoredObject>),
}

/// Edits of one estate, by instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edits {
    by_instance: BTreeMap<ResourceInstance, Edit>,
    /// Resources that are meant as a whole: which instances they have must not change meanwhile.
    whole: BTreeSet<AbsoluteResource>,
}

impl Edits {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.by_instance.is_empty()
    }

    fn add(&mut self, address: ResourceInstance, edit: Edit) {
        self.by_instance.insert(address, edit);
    }

    fn of_one(address: ResourceInstance, edit: Edit) -> Edits {
        Edits { by_instance: [(address, edit)].into(), whole: BTreeSet::new() }
    }
}
