//! Conditions that must hold: validations, preconditions and postconditions.

use super::{EvalContext, RepetitionData};
use language::diagnostics::Diagnostic;
use language::module::CheckRule;
use language::variables::{RuleOutcome, RuleWords, evaluate_rule};
use values::Value;
use values::address::ModuleInstance;

/// What a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedObject {
    /// A precondition of a resource.
    ResourcePrecondition,
    /// A postcondition of a resource.
    ResourcePostcondition,
    /// A precondition of an output.
    OutputPrecondition,
}

impl CheckedObject {
    fn summary(self) -> &'static str {
        match self {
            CheckedObject::ResourcePrecondition => "Resource precondition failed",
            CheckedObject::ResourcePostcondition => "Resource postcondition failed",
            CheckedObject::OutputPrecondition => "Module output value precondition failed",
        }
    }
}

/// Evaluates the rules; whether all hold or cannot be known yet. Failures are reported.
pub(crate) fn check_rules(
    context: &EvalContext,
    module: &ModuleInstance,
    data: &RepetitionData,
    this: Option<&Value>,
    object: CheckedObject,
    rules: &[CheckRule],
) -> bool {
    let mut hold = true;
    for rule in rules {
        let outcome = context.evaluate(module, data, this.cloned(), |evaluation| {
            if let RuleOutcome::Fail(message) =
                evaluate_rule(evaluation, rule, RuleWords::Condition)
            {
                let values = evaluation.describe(&rule.condition, None);
                evaluation.diagnostics.push(
                    Diagnostic::error(object.summary(), message)
                        .at(rule.condition.span)
                        .with_values(values),
                );
            }
        });
        hold &= outcome.is_some();
    }
    hold
}
