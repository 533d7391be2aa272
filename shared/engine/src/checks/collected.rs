//! Results of conditions as they come in from many vertices.

use super::{CheckResult, CheckStatus};
use language::diagnostics::Checkable;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use values::address::ModuleInstance;

/// One condition of an object, by its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    Validation(usize),
    Precondition(usize),
    Postcondition(usize),
    Assertion(usize),
}

/// What is known of one object.
#[derive(Default)]
struct Found {
    rules: BTreeMap<Rule, (CheckStatus, Option<String>)>,
    /// Why the data source of a check block could not be read.
    unread: Vec<String>,
}

/// What was found, by the instance of the module and the object in it. A condition that is evaluated again counts as
/// it was found last.
#[derive(Default)]
pub(crate) struct Collected(Mutex<HashMap<(ModuleInstance, Checkable), Found>>);

impl Collected {
    fn lock(&self) -> MutexGuard<'_, HashMap<(ModuleInstance, Checkable), Found>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a condition came to.
    pub(crate) fn add(
        &self,
        module: &ModuleInstance,
        object: Checkable,
        rule: Rule,
        status: CheckStatus,
        problem: Option<String>,
    ) {
        let mut all = self.lock();
        let found = all.entry((module.clone(), object)).or_default();
        found.rules.insert(rule, (status, problem));
    }

    /// Adds why the data source of a check block could not be read.
    pub(crate) fn add_unread(&self, module: &ModuleInstance, check: Checkable, problem: String) {
        let mut all = self.lock();
        let found = all.entry((module.clone(), check)).or_default();
        if !found.unread.contains(&problem) {
            found.unread.push(problem);
        }
    }

    /// Whether a check block's data source could not be read, so that there is nothing to assert.
    pub(crate) fn is_unread(&self, module: &ModuleInstance, check: Checkable) -> bool {
        self.lock().get(&(module.clone(), check)).is_some_and(|found| !found.unread.is_empty())
    }

    /// What the conditions of an object came to, of which there are so many; `None` where none was evaluated.
    pub(crate) fn result(
        &self,
        module: &ModuleInstance,
        object: Checkable,
        rules: usize,
    ) -> Option<CheckResult> {
        let all = self.lock();
        let found = all.get(&(module.clone(), object))?;
        let mut result = CheckResult::default();
        if found.rules.len() < rules {
            result.status = CheckStatus::Unknown;
        }
        if !found.unread.is_empty() {
            result.status = CheckStatus::Fail;
            result.problems.extend(found.unread.iter().cloned());
        }
        for (status, problem) in found.rules.values() {
            result.status = result.status.max(*status);
            result.problems.extend(problem.clone());
        }
        result.problems.sort_unstable();
        Some(result)
    }
}
