//! Values of a run's variables: given from outside, by the file, and by the run itself.

use super::SuiteFile;
use super::states::RunOutputs;
use crate::context::Variables;
use crate::environment::Environment;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::evaluate::Evaluation;
use language::functions::FunctionContext;
use language::module::Configuration;
use language::module::test_file::{Command, Run};
use language::reference::{Reference, Subject, references_in, traversals_in};
use language::scope::Scope;
use language::source::{Sources, Span};
use language::syntax::ast::{Expression, Traversal, TraversalStep};
use language::variables::{InputValue, ValueSource};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use values::Value;

/// What a run's variables are.
#[derive(Default)]
pub(super) struct RunVariables {
    /// Those of the module.
    pub(super) given: Variables,
    /// Others, which assertions and provider blocks may use.
    pub(super) others: BTreeMap<Arc<str>, Value>,
}

/// What is needed to find the values.
pub(super) struct Valuation<'a> {
    pub(super) environment: &'a Environment,
    pub(super) configuration: &'a Configuration,
    pub(super) file: &'a SuiteFile,
    pub(super) run: &'a Run,
    pub(super) outputs: &'a BTreeMap<Arc<str>, RunOutputs>,
}

/// Where an expression stands, which decides what it may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    File,
    Run,
    Provider,
}

impl Valuation<'_> {
    /// Finds all values that the module and its test need.
    pub(super) fn variables(&self) -> (RunVariables, Diagnostics) {
        let sources = &*self.configuration.sources;
        let module = &self.configuration.root.module;
        let (resolved, others, mut diagnostics) = self.file.values.divide(module, sources);
        let mut global: BTreeMap<Arc<str>, Value> = others;
        let mut variables = RunVariables { given: resolved.values, others: BTreeMap::new() };
        global.extend(variables.given.iter().map(|(name, v)| (name.clone(), v.value.clone())));
        // What the file says counts for what the module declares, and for what the test refers to.
        let needed = self.needed();
        let mut visible = global.clone();
        for (name, expression) in &self.file.file.variables {
            let declared = module.variables.contains_key(name);
            if !declared && !needed.contains(name) {
                continue;
            }
            let value = self.evaluate(expression, Place::File, &global, &mut diagnostics);
            let Some(value) = value else { continue };
            visible.insert(name.clone(), value.clone());
            if declared && !self.run.variables.contains_key(name) {
                let source = ValueSource::Test(expression.span);
                variables.given.insert(name.clone(), InputValue { value, source });
            }
        }
        let mut all = visible.clone();
        for (name, expression) in &self.run.variables {
            let declared = module.variables.contains_key(name);
            if !declared {
                diagnostics.push(
                    Diagnostic::warning(
                        "Value for undeclared variable",
                        format!(
                            "The module under test does not declare a variable named {name:?}, but it is declared in run block {:?}.",
                            self.run.name
                        ),
                    )
                    .at(expression.span),
                );
            }
            let value = self.evaluate(expression, Place::Run, &visible, &mut diagnostics);
            let Some(value) = value else { continue };
            all.insert(name.clone(), value.clone());
            if declared {
                let source = ValueSource::Test(expression.span);
                variables.given.insert(name.clone(), InputValue { value, source });
            }
        }
        variables.others =
            all.into_iter().filter(|(name, _)| !module.variables.contains_key(name)).collect();
        if !diagnostics.has_errors() {
            diagnostics.extend(self.missing(&variables.given));
        }
        (variables, diagnostics)
    }

    fn missing(&self, given: &Variables) -> Vec<Diagnostic> {
        let declared = self.configuration.root.module.variables.values();
        let missing = declared.filter(|v| v.is_required() && !given.contains_key(&v.name));
        let error = |variable: &language::module::Variable| {
            Diagnostic::error(
                "No value for required variable",
                format!(
                    "The module under test for run block {:?} has a required variable {:?} with no set value. Use a -var or -var-file command line argument or add this variable into a \"variables\" block within the test file or run block.",
                    self.run.name, variable.name
                ),
            )
            .at(variable.span)
        };
        missing.map(error).collect()
    }

    /// The value of an argument of a provider block in the test file.
    pub(super) fn provider_argument(
        &self,
        expression: &Expression,
        variables: &RunVariables,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        // What refers to nothing stays as it is written.
        if traversals_in(expression).is_empty() {
            return None;
        }
        let mut visible = variables.others.clone();
        let given = variables.given.iter().map(|(name, v)| (name.clone(), v.value.clone()));
        visible.extend(given);
        self.evaluate(expression, Place::Provider, &visible, diagnostics)
    }

    /// Variables that the test itself refers to.
    fn needed(&self) -> BTreeSet<Arc<str>> {
        let mut names = BTreeSet::new();
        let mut look = |expression: &Expression| {
            for reference in references_in(expression).into_iter().flatten() {
                if let Subject::Variable(name) = &reference.subject {
                    names.insert(name.clone());
                }
            }
        };
        for rule in &self.run.asserts {
            look(&rule.condition);
            look(&rule.error_message);
        }
        self.run.variables.values().for_each(&mut look);
        for provider in self.file.file.providers.values() {
            look_through(&provider.config.config, &mut look);
        }
        names
    }

    fn evaluate(
        &self,
        expression: &Expression,
        place: Place,
        variables: &BTreeMap<Arc<str>, Value>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        let scope = TestFileScope { valuation: self, place, variables };
        let mut evaluation = Evaluation::new(&scope);
        let value = evaluation.expression(expression);
        let failed = evaluation.diagnostics.has_errors();
        diagnostics.extend(evaluation.diagnostics);
        (!failed).then_some(value)
    }
}

fn look_through(body: &language::syntax::ast::Body, look: &mut dyn FnMut(&Expression)) {
    for attribute in &body.attributes {
        look(&attribute.expression);
    }
    for block in &body.blocks {
        look_through(&block.body, look);
    }
}

struct TestFileScope<'a> {
    valuation: &'a Valuation<'a>,
    place: Place,
    variables: &'a BTreeMap<Arc<str>, Value>,
}

impl TestFileScope<'_> {
    fn refused(&self) -> (&'static str, String) {
        let detail = match self.place {
            Place::File => {
                "You can only reference global variables within the test file variables block."
            }
            Place::Run => {
                "You can only reference earlier run blocks, file level, and global variables while defining variables from inside a run block."
            }
            Place::Provider => {
                "You can only reference earlier run blocks and variables of the test within a provider block of a test file."
            }
        };
        ("Invalid reference", detail.to_owned())
    }

    fn check_run(&self, reference: &Reference, name: &Arc<str>) -> Option<(&'static str, String)> {
        if self.place == Place::File {
            return Some(self.refused());
        }
        let runs = &self.valuation.file.file.runs;
        let known = runs.iter().any(|run| run.name == *name);
        let Some(outputs) = self.valuation.outputs.get(name) else {
            const RULE: &str = "You can only reference run blocks that are in the same test file and will execute before the current run block.";
            return Some(match known {
                true => (
                    "Reference to unavailable run block",
                    format!("The run block {name:?} has not executed yet. {RULE}"),
                ),
                false => (
                    "Reference to unknown run block",
                    format!("The run block {name:?} does not exist within this test file. {RULE}"),
                ),
            });
        };
        let named = match reference.remaining().first() {
            Some(TraversalStep::Attribute { name, .. }) => outputs.values.attribute(name),
            _ => None,
        };
        if named.is_some_and(|value| !value.is_wholly_known()) {
            let operation = match outputs.command {
                Command::Plan => "plan",
                Command::Apply => "apply",
            };
            return Some((
                "Reference to unknown value",
                format!(
                    "The value for {reference} is unknown. Run block {name:?} is executing a {operation:?} operation, and the specified output value is only known after apply."
                ),
            ));
        }
        None
    }
}

impl Scope for TestFileScope<'_> {
    fn parse(&self, traversal: &Arc<Traversal>) -> Result<Reference, Box<Diagnostic>> {
        Reference::parse_in_test(traversal)
    }

    fn check(&self, reference: &Reference) -> Diagnostics {
        let problem = match &reference.subject {
            Subject::Variable(name) if self.variables.contains_key(name) => None,
            Subject::Variable(name) => {
                let detail = match self.place {
                    Place::File => format!(
                        "The input variable {name:?} is not available to the current context. You can only reference global variables."
                    ),
                    Place::Run | Place::Provider => format!(
                        "The input variable {name:?} is not available to the current run block. You can only reference variables defined at the file or global levels."
                    ),
                };
                Some(("Reference to unavailable variable", detail))
            }
            Subject::Run(name) => self.check_run(reference, name),
            _ => Some(self.refused()),
        };
        let at: Span = reference.span;
        problem
            .map(|(summary, detail)| Diagnostic::error(summary, detail).at(at))
            .into_iter()
            .collect()
    }

    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics> {
        Ok(match &reference.subject {
            Subject::Variable(name) => self.variables.get(name).cloned(),
            Subject::Run(name) => self.valuation.outputs.get(name).map(|run| run.values.clone()),
            _ => None,
        }
        .unwrap_or_else(Value::dynamic))
    }

    fn function_context(&self) -> FunctionContext<'_> {
        let environment = self.valuation.environment;
        FunctionContext {
            files: &*environment.files,
            base_directory: Path::new("."),
            working_directory: &environment.working_directory,
            home_directory: environment.home_directory.as_deref(),
            pure_only: false,
            now: environment.clock.now(),
            plan_timestamp: None,
            random: &*environment.random,
        }
    }

    fn sources(&self) -> &Sources {
        &self.valuation.configuration.sources
    }
}
