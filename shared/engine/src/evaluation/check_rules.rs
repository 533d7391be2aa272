//! Conditions that must hold: validations, preconditions and postconditions.

use super::{EvalContext, Reader, RepetitionData};
use crate::checks::{CheckStatus, Rule};
use language::diagnostics::{Checkable, Diagnostic};
use language::evaluate::Evaluation;
use language::module::CheckRule;
use language::variables::{RuleOutcome, RuleWords, evaluate_rule};
use std::sync::Arc;
use values::Value;
use values::address::{ModuleInstance, ResourceInstance};

/// What a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedObject<'o> {
    /// A precondition of a resource.
    ResourcePrecondition(&'o ResourceInstance),
    /// A postcondition of a resource.
    ResourcePostcondition(&'o ResourceInstance),
    /// A precondition of an output.
    OutputPrecondition(&'o Arc<str>),
}

impl CheckedObject<'_> {
    fn summary(self) -> &'static str {
        match self {
            CheckedObject::ResourcePrecondition(_) => "Resource precondition failed",
            CheckedObject::ResourcePostcondition(_) => "Resource postcondition failed",
            CheckedObject::OutputPrecondition(_) => "Module output value precondition failed",
        }
    }

    fn rule(self, place: usize) -> Rule {
        match self {
            CheckedObject::ResourcePostcondition(_) => Rule::Postcondition(place),
            CheckedObject::ResourcePrecondition(_) | CheckedObject::OutputPrecondition(_) => {
                Rule::Precondition(place)
            }
        }
    }

    fn checkable(self) -> Checkable {
        match self {
            CheckedObject::ResourcePrecondition(address)
            | CheckedObject::ResourcePostcondition(address) => Checkable::Resource(address.clone()),
            CheckedObject::OutputPrecondition(name) => Checkable::Output(name.clone()),
        }
    }
}

/// Evaluates the rules; whether all hold or cannot be known yet, or failures only warn. Failures are reported.
pub(crate) fn check_rules(
    context: &EvalContext,
    module: &ModuleInstance,
    data: &RepetitionData,
    this: Option<&Value>,
    object: CheckedObject<'_>,
    rules: &[CheckRule],
) -> bool {
    rules.iter().enumerate().fold(true, |hold, (place, rule)| {
        let evaluate = |evaluation: &mut Evaluation<'_>| {
            check_rule(context, evaluation, module, object, (place, rule))
        };
        context.evaluate(module, data, this.cloned(), evaluate).is_some() && hold
    })
}

/// The same, on behalf of a reader whose log is kept.
pub(crate) fn check_rules_for(
    reader: &Reader,
    context: &EvalContext,
    module: &ModuleInstance,
    data: &RepetitionData,
    this: Option<&Value>,
    object: CheckedObject<'_>,
    rules: &[CheckRule],
) -> bool {
    rules.iter().enumerate().fold(true, |hold, (place, rule)| {
        let evaluate = |evaluation: &mut Evaluation<'_>| {
            check_rule(context, evaluation, module, object, (place, rule))
        };
        context.evaluate_for(reader, module, data, this.cloned(), evaluate).is_some() && hold
    })
}

fn check_rule(
    context: &EvalContext,
    evaluation: &mut Evaluation<'_>,
    module: &ModuleInstance,
    object: CheckedObject<'_>,
    (place, rule): (usize, &CheckRule),
) {
    let outcome = evaluate_rule(evaluation, rule, RuleWords::Condition);
    let (status, problem) = CheckStatus::of(&outcome);
    context.checks.add(module, object.checkable(), object.rule(place), status, problem);
    if let RuleOutcome::Fail(message) = outcome {
        let values = evaluation.describe(&rule.condition, None);
        let failed = Diagnostic::error(object.summary(), message)
            .at(rule.condition.span)
            .with_values(values)
            .of_condition(module, object.checkable());
        evaluation.diagnostics.push(match context.conditions_warn {
            true => failed.as_warning(),
            false => failed,
        });
    }
}
