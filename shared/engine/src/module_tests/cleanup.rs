//! Taking down what the runs of a file have made.

use super::execution::Execution;
use super::observer::{Leftovers, TestObserver};
use super::states::{ModuleState, States};
use super::{SuiteFile, TestSuite, Tester};
use crate::applying::ApplyOptions;
use crate::plan::PlanMode;
use crate::planning::PlanOptions;
use crate::stop::Stop;
use language::diagnostics::Diagnostics;
use std::sync::Arc;

/// States in the order in which they are taken down: what was changed last comes first.
fn latest_first(states: &States) -> Vec<(usize, &ModuleState)> {
    let changed = states.modules.values().filter_map(|state| Some((state.changed_by?, state)));
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
    changed
}

/// Deletes everything; whether that worked.
pub(super) async fn tear_down(
    tester: &Tester,
    suite: &TestSuite,
    file: &SuiteFile,
    states: &States,
    observer: &dyn TestObserver,
) -> bool {
    let mut clean = true;
    for (index, state) in latest_first(states) {
        let Some(run) = file.file.runs.get(index) else { continue };
        if tester.is_aborted() {
            tell_what_is_left(file, states, observer);
            return false;
        }
        observer.run_tearing_down(&file.file, run);
        let execution = Execution { tester, suite, file, run, index };
        let diagnostics = destroy(&execution, states, state).await;
        let leftovers = Leftovers::of(&state.records.state(), diagnostics);
        clean &= leftovers.objects.is_empty() && !leftovers.diagnostics.has_errors();
        if !leftovers.objects.is_empty() || !leftovers.diagnostics.is_empty() {
            observer.left(&file.file, run, &leftovers, &suite.configuration.sources);
        }
    }
    clean
}

async fn destroy(execution: &Execution<'_>, states: &States, state: &ModuleState) -> Diagnostics {
    let previous = state.records.state();
    if previous.instances.is_empty() {
        return Diagnostics::new();
    }
    // Warnings were said when the run was carried out.
    let prepared = match execution.prepare(states) {
        Ok((prepared, _)) => prepared,
        Err(diagnostics) => return diagnostics,
    };
    let stop = Stop::new();
    let context = execution.context(&prepared, stop.clone());
    let options = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
    let given = prepared.variables.given.clone();
    let planning = context.plan(&prepared.configuration, given, Arc::new(previous), options);
    let (plan, mut diagnostics) = execution.tester.supervised(&stop, planning).await;
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let records = state.records.clone();
    let applying =
        context.apply(&prepared.configuration, Arc::new(plan), records, ApplyOptions::default());
    let (_, found) = execution.tester.supervised(&stop, applying).await;
    diagnostics.extend(found);
    diagnostics
}

/// Says what exists by the time that tests are given up.
pub(super) fn tell_what_is_left(file: &SuiteFile, states: &States, observer: &dyn TestObserver) {
    for (index, state) in latest_first(states) {
        let Some(run) = file.file.runs.get(index) else { continue };
        let leftovers = Leftovers::of(&state.records.state(), Diagnostics::new());
        if !leftovers.objects.is_empty() {
            observer.abandoned(&file.file, run, &leftovers);
        }
    }
}
