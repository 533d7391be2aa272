//! What the records of an estate say, read at one time.

use crate::checks::CheckResults;
use crate::object::{DeposedKey, StoredObject};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{ConfigResource, ResourceInstance};

/// All instances and outputs of an estate.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The estate's identity; `None` before anything was written.
    pub lineage: Option<Lineage>,
    /// Raised whenever a transaction begins to write and when it ends.
    pub serial: u64,
    /// Instances by address.
    pub instances: BTreeMap<ResourceInstance, Arc<InstanceState>>,
    /// Root outputs by name.
    pub outputs: BTreeMap<Arc<str>, OutputState>,
    /// What conditions came to in the last apply.
    pub checks: ChecksState,
}

/// Identity of an estate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lineage(pub Arc<str>);

/// The random id in a record's body that changes only when a run changes the instance; empty for
/// an absent record, a shell and a tombstone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Revision(pub Arc<str>);

/// The stored objects of one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceState {
    /// The current object.
    pub current: Option<StoredObject>,
    /// Objects superseded and not deleted yet.
    pub deposed: BTreeMap<DeposedKey, StoredObject>,
    /// The store's version of the record that this was read from.
    pub version: Option<records::Version>,
    /// The record's revision.
    pub revision: Revision,
}

/// One root output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputState {
    /// Its value; carries the sensitive mark where the output is sensitive.
    pub value: Value,
    /// The store's version of its record.
    pub version: Option<records::Version>,
}

/// What conditions came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChecksState {
    /// Their results.
    pub results: CheckResults,
    /// The store's version of their record.
    pub version: Option<records::Version>,
}

impl State {
    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty() && self.outputs.is_empty()
    }
    /// Instances of one resource, in all instances of its module, in order.
    pub fn by_resource(&self) -> BTreeMap<ConfigResource, Vec<&ResourceInstance>> {
        let mut by = BTreeMap::<ConfigResource, Vec<&ResourceInstance>>::new();
        for address in self.instances.keys() {
            by.entry(address.config()).or_default().push(address);
        }
        by
    }
}
