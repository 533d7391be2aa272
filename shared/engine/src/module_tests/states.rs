//! The states of one file's runs, each for a module of its own, and what runs have put out.

use crate::remembered::RememberedRecords;
use language::module::test_file::{Command, Run};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StateKey {
    /// The module under test.
    Main,
    /// Another module, by its source address.
    Module(Arc<str>),
    /// What a run names.
    Named(Arc<str>),
}

impl StateKey {
    pub(super) fn of(run: &Run) -> StateKey {
        match (&run.state_key, &run.module) {
            (Some(key), _) => StateKey::Named(key.clone()),
            (None, Some(module)) => {
                let source = module.source.as_ref().map(ToString::to_string);
                StateKey::Module(source.map_or_else(|| module.written.clone(), Arc::from))
            }
            (None, None) => StateKey::Main,
        }
    }
}

/// What is recorded for one module.
#[derive(Default)]
pub(super) struct ModuleState {
    pub(super) records: Arc<RememberedRecords>,
    /// The last run that changed it, by its place in the file: what it made is deleted with its settings.
    pub(super) changed_by: Option<usize>,
}

/// What a run has put out.
#[derive(Clone)]
pub(super) struct RunOutputs {
    pub(super) values: Value,
    pub(super) command: Command,
}

/// All states of a file.
#[derive(Default)]
pub(super) struct States {
    pub(super) modules: BTreeMap<StateKey, ModuleState>,
    pub(super) outputs: BTreeMap<Arc<str>, RunOutputs>,
}
