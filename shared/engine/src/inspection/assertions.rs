//! Assertions of a test: in the root module, with the names that only tests know.

use super::Inspection;
use crate::evaluation::{EvalContext, ModuleScope, RepetitionData};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::evaluate::Evaluation;
use language::functions::{CallError, FunctionContext};
use language::module::CheckRule;
use language::reference::{Reference, Subject};
use language::scope::{ProviderFunction, ProviderFunctionName, Scope};
use language::source::Sources;
use language::syntax::ast::Traversal;
use language::syntax::suggest;
use language::variables::{RuleOutcome, evaluate_assertion};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::ModuleInstance;

/// What assertions see beside what the root module declares.
#[derive(Clone, Debug, Default)]
pub struct TestNames {
    /// Variables of the test that the module does not declare.
    pub variables: BTreeMap<Arc<str>, Value>,
    /// Outputs of the module, as far as they are known.
    pub outputs: BTreeMap<Arc<str>, Value>,
    /// Outputs of the runs of the file, one object each; `None` for those that have not been run.
    pub runs: BTreeMap<Arc<str>, Option<Value>>,
}

const UNKNOWN: &str = "Condition expression could not be evaluated at this time. This means you have executed a `run` block with `command = plan` and one of the values your condition depended on is not known until after the plan has been applied. Either remove this value from your condition, or execute an `apply` command from this `run` block. Alternatively, if there is an override for this value, you can make it available during the plan phase by setting `override_during = plan` in the `override_` block.";

impl Inspection {
    /// What assertions come to, one after the other; and what is to be said of those that do not hold.
    pub fn assert(
        &self,
        rules: &[CheckRule],
        names: &TestNames,
    ) -> (Vec<RuleOutcome>, Diagnostics) {
        let mut outcomes = Vec::with_capacity(rules.len());
        let mut diagnostics = Diagnostics::new();
        let (root, data) = (ModuleInstance::root(), RepetitionData::default());
        for rule in rules {
            let scope = TestScope {
                context: &self.context,
                module: ModuleScope::new(
                    &self.context,
                    &self.context.configuration.root,
                    &root,
                    &data,
                    None,
                ),
                names,
            };
            let mut evaluation = Evaluation::new(&scope);
            let outcome = evaluate_assertion(&mut evaluation, rule);
            let said = match &outcome {
                RuleOutcome::Fail(message) => Some(("Test assertion failed", message.as_str())),
                RuleOutcome::Unknown => Some(("Unknown condition value", UNKNOWN)),
                RuleOutcome::Pass | RuleOutcome::Error => None,
            };
            if let Some((summary, detail)) = said {
                let values = evaluation.describe(&rule.condition, None);
                evaluation.diagnostics.push(
                    Diagnostic::error(summary, detail).at(rule.condition.span).with_values(values),
                );
            }
            diagnostics.extend(evaluation.diagnostics);
            outcomes.push(outcome);
        }
        (outcomes, diagnostics)
    }
}

struct TestScope<'a> {
    context: &'a EvalContext,
    module: ModuleScope<'a>,
    names: &'a TestNames,
}

impl TestScope<'_> {
    fn check_run(&self, name: &Arc<str>) -> Option<(&'static str, String)> {
        match self.names.runs.get(name) {
            Some(Some(_)) => None,
            Some(None) => Some((
                "Reference to unevaluated run block",
                format!(
                    "The run {name:?} block has not yet been evaluated, so its results are not available here."
                ),
            )),
            None => {
                let hint = suggest(name, self.names.runs.keys().map(|run| &**run))
                    .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
                Some((
                    "Reference to undeclared run block",
                    format!("There is no run {name:?} declared in this test suite.{hint}"),
                ))
            }
        }
    }

    fn check_output(&self, name: &Arc<str>) -> Option<(&'static str, String)> {
        let declared = &self.context.configuration.root.module.outputs;
        if declared.contains_key(name) {
            return None;
        }
        let hint = suggest(name, declared.keys().map(|output| &**output))
            .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
        Some((
            "Reference to undeclared output value",
            format!("An output value with the name {name:?} has not been declared.{hint}"),
        ))
    }
}

impl Scope for TestScope<'_> {
    fn parse(&self, traversal: &Arc<Traversal>) -> Result<Reference, Box<Diagnostic>> {
        Reference::parse_in_test(traversal)
    }

    fn check(&self, reference: &Reference) -> Diagnostics {
        let problem = match &reference.subject {
            Subject::Run(name) => self.check_run(name),
            Subject::Output(name) => self.check_output(name),
            Subject::Variable(name) if self.names.variables.contains_key(name) => None,
            _ => return self.module.check(reference),
        };
        let problem =
            problem.map(|(summary, detail)| Diagnostic::error(summary, detail).at(reference.span));
        problem.into_iter().collect()
    }

    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics> {
        let unknown = Value::dynamic;
        Ok(match &reference.subject {
            Subject::Run(name) => {
                self.names.runs.get(name).cloned().flatten().unwrap_or_else(unknown)
            }
            Subject::Output(name) => self.names.outputs.get(name).cloned().unwrap_or_else(unknown),
            Subject::Variable(name) if self.names.variables.contains_key(name) => {
                self.names.variables.get(name).cloned().unwrap_or_else(unknown)
            }
            _ => return self.module.value(reference),
        })
    }

    fn provider_function(
        &self,
        name: &ProviderFunctionName<'_>,
    ) -> Result<ProviderFunction, Box<Diagnostic>> {
        self.module.provider_function(name)
    }

    fn call_provider_function(
        &self,
        name: &ProviderFunctionName<'_>,
        arguments: Vec<Value>,
    ) -> Result<Value, CallError> {
        self.module.call_provider_function(name, arguments)
    }

    fn function_context(&self) -> FunctionContext<'_> {
        self.module.function_context()
    }

    fn sources(&self) -> &Sources {
        self.module.sources()
    }
}
