//! Resources laid out by module, as the JSON of states and planned values has them.

use crate::json::{Escape, Fields, write_array};
use std::collections::BTreeMap;
use values::address::ModuleInstance;

/// A module and what is in it.
pub(crate) struct ModuleTree<T> {
    address: String,
    resources: Vec<T>,
    children: BTreeMap<String, ModuleTree<T>>,
}

impl<T> ModuleTree<T> {
    pub(crate) fn root() -> ModuleTree<T> {
        ModuleTree { address: String::new(), resources: Vec::new(), children: BTreeMap::new() }
    }

    /// Puts a resource after those of the same module.
    pub(crate) fn push(&mut self, module: &ModuleInstance, resource: T) {
        let mut at = self;
        for length in 1..=module.0.len() {
            let address = ModuleInstance(module.0[..length].into()).to_string();
            at = at.children.entry(address.clone()).or_insert_with(|| ModuleTree {
                address,
                resources: Vec::new(),
                children: BTreeMap::new(),
            });
        }
        at.resources.push(resource);
    }

    pub(crate) fn write(&self, out: &mut String, write: &mut dyn FnMut(&T, &mut String)) {
        let mut fields = Fields::begin(out, Escape::Html);
        if !self.resources.is_empty() {
            write_array(&self.resources, fields.key("resources"), &mut *write);
        }
        if !self.address.is_empty() {
            fields.string("address", &self.address);
        }
        if !self.children.is_empty() {
            write_array(self.children.values(), fields.key("child_modules"), |child, out| {
                child.write(out, write);
            });
        }
        fields.end();
    }
}
