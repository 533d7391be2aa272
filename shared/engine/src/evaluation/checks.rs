//! `check` blocks: assertions that warn, and data sources that may fail.

use super::{EvalContext, Operation};
use crate::checks::{CheckStatus, Rule};
use crate::graph::Walked;
use language::diagnostics::{Checkable, Diagnostic};
use language::module::{Check, CheckRule};
use language::variables::{RuleOutcome, RuleWords, evaluate_rule};
use std::sync::Arc;
use values::address::{ModuleInstance, ModulePath};

/// Evaluates the assertions of a block in every instance of its module. Whatever they come to,
/// nothing waits for them.
pub(crate) fn check(context: &EvalContext, path: &ModulePath, name: &Arc<str>) -> Walked {
    let Some(check) = context.node(path).and_then(|node| node.module.checks.get(name)) else {
        return Walked::Failed;
    };
    for module in context.working.module_instances(path).iter() {
        if !context.checks.is_unread(module, Checkable::Check(name.clone())) {
            for (place, rule) in check.asserts.iter().enumerate() {
                assert(context, module, check, (place, rule));
            }
        }
    }
    Walked::Done
}

fn assert(
    context: &EvalContext,
    module: &ModuleInstance,
    check: &Check,
    (place, rule): (usize, &CheckRule),
) {
    let validating = context.operation == Operation::Validate;
    let outcome = context.evaluate_in_check(module, &check.name, |evaluation| {
        let outcome = evaluate_rule(evaluation, rule, RuleWords::Condition);
        let (summary, detail) = match &outcome {
            RuleOutcome::Fail(message) => ("Check block assertion failed", message.as_str()),
            RuleOutcome::Unknown => (
                "Check block assertion known after apply",
                "The condition could not be evaluated at this time, a result will be known when this plan is applied.",
            ),
            RuleOutcome::Pass | RuleOutcome::Error => return outcome,
        };
        if !validating && !evaluation.diagnostics.has_errors() {
            let values = evaluation.describe(&rule.condition, None);
            evaluation.diagnostics.push(
                Diagnostic::error(summary, detail)
                    .at(rule.condition.span)
                    .with_values(values)
                    .of_condition(module, Checkable::Check(check.name.clone()))
                    .as_warning(),
            );
        }
        outcome
    });
    let (status, problem) = CheckStatus::of(&outcome.unwrap_or(RuleOutcome::Error));
    let object = Checkable::Check(check.name.clone());
    context.checks.add(module, object, Rule::Assertion(place), status, problem);
}

/// Reports why a data source inside a check block could not be read: the block fails, and nothing
/// else does.
pub(crate) fn report_unread_data(
    context: &EvalContext,
    module: &ModuleInstance,
    check: &Arc<str>,
    diagnostics: impl IntoIterator<Item = Diagnostic>,
) {
    context.report(diagnostics.into_iter().map(|diagnostic| {
        if diagnostic.is_error() {
            let problem = match diagnostic.detail.as_str() {
                "" => diagnostic.summary.clone(),
                detail => format!("{}: {detail}", diagnostic.summary),
            };
            context.checks.add_unread(module, Checkable::Check(check.clone()), problem);
        }
        diagnostic.of_condition(module, Checkable::Check(check.clone())).as_warning()
    }));
}
