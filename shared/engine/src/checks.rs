//! What the `check` blocks of a configuration came to.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::address::ModuleInstance;

/// Whether what is checked is as it should be. Worse comes later.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// All assertions hold.
    #[default]
    Pass,
    /// Some cannot be evaluated before apply.
    Unknown,
    /// Some do not hold, or the data source could not be read.
    Fail,
    /// Some could not be evaluated.
    Error,
}

/// The result of one check block in one instance of its module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckResult {
    /// The worst of its assertions.
    pub status: CheckStatus,
    /// What is wrong, in the words of the block.
    pub problems: Vec<String>,
}

/// The results of check blocks, by the instance of the module and the name of the block.
pub type CheckResults = BTreeMap<(ModuleInstance, Arc<str>), CheckResult>;

/// Results as they come in from many vertices.
#[derive(Default)]
pub(crate) struct Collected(Mutex<CheckResults>);

impl Collected {
    fn lock(&self) -> MutexGuard<'_, CheckResults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the result of one assertion, or of the block's data source.
    pub(crate) fn add(
        &self,
        module: &ModuleInstance,
        check: &Arc<str>,
        status: CheckStatus,
        problem: Option<String>,
    ) {
        let mut all = self.lock();
        let result = all.entry((module.clone(), check.clone())).or_default();
        result.status = result.status.max(status);
        result.problems.extend(problem);
    }

    /// Whether the block's data source could not be read, so that there is nothing to assert.
    pub(crate) fn has_failed(&self, module: &ModuleInstance, check: &Arc<str>) -> bool {
        let all = self.lock();
        let result = all.get(&(module.clone(), check.clone()));
        result.is_some_and(|result| result.status >= CheckStatus::Fail)
    }

    pub(crate) fn take(&self) -> CheckResults {
        std::mem::take(&mut *self.lock())
    }
}
