//! What this attempt did, as it goes.

use crate::hashing::HashMap;
use crate::record::body::{ClaimedAction, ClaimedObject, JournalEntry, JournalOutcome};
use std::collections::BTreeSet;
use values::address::ResourceInstance;

#[derive(Default)]
pub(super) struct Journal {
    entries: Vec<JournalEntry>,
    begun: HashMap<ResourceInstance, Vec<usize>>,
    outputs: BTreeSet<String>,
    written: BTreeSet<ResourceInstance>,
}

impl Journal {
    pub(super) fn begin(
        &mut self,
        address: &ResourceInstance,
        object: &ClaimedObject,
        action: ClaimedAction,
        now: i64,
    ) {
        let index = self.entries.len();
        self.entries.push(JournalEntry {
            address: address.to_string(),
            deposed: match object {
                ClaimedObject::Current => None,
                ClaimedObject::Deposed(key) => Some(key.clone()),
            },
            action: action.as_json().iter().map(|&word| word.to_owned()).collect(),
            started: now,
            ended: None,
            outcome: JournalOutcome::Begun,
        });
        self.begun.entry(address.clone()).or_default().push(index);
    }

    /// Whether something was begun with the instance and not ended.
    pub(super) fn is_begun(&self, address: &ResourceInstance) -> bool {
        self.begun.contains_key(address)
    }

    pub(super) fn end(&mut self, address: &ResourceInstance, outcome: JournalOutcome, now: i64) {
        if !matches!(outcome, JournalOutcome::Stray | JournalOutcome::Unrecorded) {
            self.written.insert(address.clone());
        }
        for index in self.begun.remove(address).unwrap_or_default() {
            if let Some(entry) = self.entries.get_mut(index) {
                entry.outcome = outcome;
                entry.ended = Some(now);
            }
        }
    }

    pub(super) fn output(&mut self, name: &str) {
        self.outputs.insert(name.to_owned());
    }

    pub(super) fn contents(&self) -> (Vec<JournalEntry>, Vec<String>) {
        (self.entries.clone(), self.outputs.iter().cloned().collect())
    }

    pub(super) fn written(&self) -> BTreeSet<ResourceInstance> {
        self.written.clone()
    }
}
