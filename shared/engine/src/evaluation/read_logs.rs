//! What evaluations looked at, kept by what was evaluated.

use super::working::Named;
use crate::hashing::HashMap;
use language::reads::{PartReads, ReadLog};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::address::{AbsoluteResource, ModuleInstance, ProviderConfigAddress, ResourceInstance};

/// Something that was evaluated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reader {
    /// A variable, local or output.
    Named(ModuleInstance, Named),
    /// `count` or `for_each` of a resource.
    Expansion(AbsoluteResource),
    /// `count` or `for_each` of a call, in an instance of the calling module.
    Call(ModuleInstance, Arc<str>),
    /// The arguments and conditions of an instance, and what triggers its replacement.
    Instance(ResourceInstance),
    /// A provider's configuration.
    Provider(ProviderConfigAddress),
    /// What an instance's imported object is found by, in the root module.
    Import(ResourceInstance),
}

/// The logs of one walk. Nothing is flattened here: a log refers to the logs of what it names.
#[derive(Default)]
pub(crate) struct ReadLogs(Mutex<HashMap<Reader, Arc<PartReads>>>);

impl ReadLogs {
    fn lock(&self) -> MutexGuard<'_, HashMap<Reader, Arc<PartReads>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the evaluation of a value looked at, part by part; what was added before is common to all parts.
    pub(crate) fn set(&self, reader: Reader, mut reads: PartReads) {
        let mut logs = self.lock();
        if let Some(before) = logs.get(&reader) {
            let shift = before.common.reads.len();
            reads.common.alias = reads.common.alias.map(|at| at + shift);
            reads.common.reads.splice(0..0, before.common.reads.iter().cloned());
        }
        logs.insert(reader, Arc::new(reads));
    }

    /// Something more that was looked at on the way.
    pub(crate) fn add(&self, reader: &Reader, reads: ReadLog) {
        if reads.is_empty() {
            return;
        }
        let mut logs = self.lock();
        let log = Arc::make_mut(logs.entry(reader.clone()).or_default());
        log.common.reads.extend(reads);
    }

    /// For what turned out to change nothing.
    pub(crate) fn forget(&self, reader: &Reader) {
        self.lock().remove(reader);
    }

    /// All logs.
    pub(crate) fn take(&self) -> HashMap<Reader, Arc<PartReads>> {
        std::mem::take(&mut *self.lock())
    }
}
