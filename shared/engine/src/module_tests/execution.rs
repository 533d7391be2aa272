//! One run: plan, apply, and what must hold afterwards.

use super::doubles::{doubles, overrides, unsupported};
use super::expectations::Expectations;
use super::observer::{RunReport, ShownResult};
use super::states::{RunOutputs, StateKey, States};
use super::variables::{RunVariables, Valuation};
use super::{SuiteFile, TestStatus, TestSuite, Tester};
use crate::applying::ApplyOptions;
use crate::context::Context;
use crate::doubles::Doubles;
use crate::inspection::{Basis, TestNames};
use crate::plan::{Plan, PlanMode};
use crate::planning::{PlanOptions, Target};
use crate::stop::Stop;
use language::diagnostics::{Diagnostic, Diagnostics, Severity};
use language::module::Configuration;
use language::module::test_file::{
    self, Command, OverrideTarget, Run, UnderTest, parse_replaced, parse_targeted,
};
use language::variables::RuleOutcome;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::InstanceKey;

/// One run, and what it belongs to.
pub(super) struct Execution<'a> {
    pub(super) tester: &'a Tester,
    pub(super) suite: &'a TestSuite,
    pub(super) file: &'a SuiteFile,
    pub(super) run: &'a Run,
    /// Its place in the file.
    pub(super) index: usize,
}

/// What a run works with: the same when it is carried out and when its results are deleted.
pub(super) struct Prepared {
    pub(super) configuration: Arc<Configuration>,
    pub(super) variables: RunVariables,
    pub(super) doubles: Arc<Doubles>,
}

/// What a plan or an apply came to.
struct CarriedOut {
    basis: Basis,
    outputs: BTreeMap<Arc<str>, Value>,
    diagnostics: Diagnostics,
    shown: ShownResult,
}

impl Execution<'_> {
    /// Carries the run out, and notes what it has changed and put out.
    pub(super) async fn carry_out(&self, states: &mut States) -> RunReport {
        let expectations = match Expectations::of(self.run) {
            Ok(expectations) => expectations,
            Err(errors) => return RunReport::error(errors),
        };
        let (prepared, mut diagnostics) = match self.prepare(states) {
            Ok(prepared) => prepared,
            Err(errors) => return RunReport::error(errors),
        };
        let options = match self.options() {
            Ok(options) => options,
            Err(errors) => {
                diagnostics.extend(errors);
                return RunReport::error(diagnostics);
            }
        };
        let key = StateKey::of(self.run);
        let records = states.modules.entry(key.clone()).or_default().records.clone();
        let previous = Arc::new(records.state());
        let stop = Stop::new();
        let context = self.context(&prepared, stop.clone());
        let given = prepared.variables.given.clone();
        let planning = context.plan(&prepared.configuration, given, previous, options);
        let (plan, found) = self.tester.supervised(&stop, planning).await;
        let plan = Arc::new(plan);
        if self.run.command == Command::Plan {
            diagnostics.extend(expectations.judge(found));
            if diagnostics.has_errors() {
                return self.ended(diagnostics, ShownResult::Planned(plan));
            }
            let outputs = self.outputs(&prepared.configuration, &planned_outputs(&plan), &plan);
            let basis = Basis::Planned(plan.clone());
            let shown = ShownResult::Planned(plan);
            let result = CarriedOut { basis, outputs, diagnostics, shown };
            return self.assess(states, &context, &prepared, result).await;
        }
        let found = expectations.explain(found);
        let failed = found.has_errors();
        // What checks say is said again once all is applied, or does not hold any more.
        let said = found.into_iter().filter(|d| failed || !is_check(d));
        diagnostics.extend(said);
        if failed {
            return RunReport::error(diagnostics);
        }
        let options = ApplyOptions::default();
        let applying =
            context.apply(&prepared.configuration, plan.clone(), records.clone(), options);
        let (applied, found) = self.tester.supervised(&stop, applying).await;
        if let Some(state) = states.modules.get_mut(&key) {
            state.changed_by = Some(self.index);
        }
        diagnostics.extend(expectations.judge(found));
        let state = Arc::new(records.state());
        let shown = ShownResult::Applied { state: state.clone(), plan: plan.clone() };
        if diagnostics.has_errors() {
            return self.ended(diagnostics, shown);
        }
        let known = applied.outputs.unwrap_or_default();
        let outputs = self.outputs(&prepared.configuration, &known, &plan);
        let basis = Basis::Recorded(state);
        let result = CarriedOut { basis, outputs, diagnostics, shown };
        self.assess(states, &context, &prepared, result).await
    }

    /// The configuration, variables and doubles of the run, with warnings.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn prepare(&self, states: &States) -> Result<(Prepared, Diagnostics), Diagnostics> {
        let base = self.base();
        let unsupported = unsupported(&self.file.file, self.run);
        if !unsupported.is_empty() {
            return Err(unsupported.into_iter().collect());
        }
        let under_test = UnderTest::of(base, &self.file.file, self.run)?;
        let valuation = Valuation {
            environment: &self.tester.environment,
            configuration: base,
            file: self.file,
            run: self.run,
            outputs: &states.outputs,
        };
        let (variables, mut diagnostics) = valuation.variables();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let mut found = Diagnostics::new();
        let configuration = under_test
            .configuration(overrides(&self.file.file, self.run), &mut |expression| {
                valuation.provider_argument(expression, &variables, &mut found)
            });
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let environment = &self.tester.environment;
        let doubles = doubles(environment, &under_test, &configuration, &self.file.file, self.run);
        let (configuration, doubles) = (Arc::new(configuration), Arc::new(doubles));
        Ok((Prepared { configuration, variables, doubles }, diagnostics))
    }

    /// The module that the run is about.
    fn base(&self) -> &Configuration {
        match self.file.modules.get(&self.run.name) {
            Some(module) if self.run.module.is_some() => module,
            _ => &self.suite.configuration,
        }
    }

    pub(super) fn context(&self, prepared: &Prepared, stop: Stop) -> Context {
        let environment = self.tester.environment.clone();
        Context::new(environment, stop).with_doubles(prepared.doubles.clone())
    }

    fn options(&self) -> Result<PlanOptions, Diagnostics> {
        let given = &self.run.options;
        let mut diagnostics = Diagnostics::new();
        let mut options = PlanOptions {
            mode: match given.mode {
                test_file::PlanMode::Normal => PlanMode::Normal,
                test_file::PlanMode::RefreshOnly => PlanMode::RefreshOnly,
            },
            refresh: given.refresh,
            ..PlanOptions::default()
        };
        for traversal in &given.target {
            match parse_targeted(traversal) {
                Ok(OverrideTarget::Module(module)) => options.targets.push(Target::Module(module)),
                Ok(OverrideTarget::Resource(address)) => {
                    options.targets.push(match address.key {
                        InstanceKey::None => Target::Resource(address.containing()),
                        _ => Target::Instance(address),
                    });
                }
                Err(error) => diagnostics.push(*error),
            }
        }
        for traversal in &given.replace {
            match parse_replaced(traversal) {
                Ok(address) => options.replace.push(address),
                Err(error) => diagnostics.push(*error),
            }
        }
        match diagnostics.has_errors() {
            true => Err(diagnostics),
            false => Ok(options),
        }
    }

    /// The values of all outputs; those that are null are not among the known ones of a plan that was made.
    fn outputs(
        &self,
        configuration: &Configuration,
        known: &BTreeMap<Arc<str>, Value>,
        plan: &Plan,
    ) -> BTreeMap<Arc<str>, Value> {
        let declared = configuration.root.module.outputs.keys();
        let value = |name: &Arc<str>| match known.get(name) {
            Some(value) => value.clone(),
            None if plan.complete && !plan.targeted => Value::dynamic_null(),
            None => Value::dynamic(),
        };
        declared.map(|name| (name.clone(), value(name))).collect()
    }

    /// Evaluates the assertions, and notes what the run has put out.
    async fn assess(
        &self,
        states: &mut States,
        context: &Context,
        prepared: &Prepared,
        result: CarriedOut,
    ) -> RunReport {
        let CarriedOut { basis, outputs, mut diagnostics, shown } = result;
        let values = Value::object(outputs.clone());
        let mut outcomes = Vec::new();
        if !self.run.asserts.is_empty() {
            let names = TestNames {
                variables: prepared.variables.others.clone(),
                outputs,
                runs: self.runs(states),
            };
            let given = prepared.variables.given.clone();
            // What is wrong with the module was said when it was planned or applied.
            let (inspection, _) = context.inspect(&prepared.configuration, given, basis).await;
            let Some(inspection) = inspection else {
                return self.ended(diagnostics, shown);
            };
            let (found, said) = inspection.assert(&self.run.asserts, &names);
            inspection.close().await;
            outcomes = found;
            diagnostics.extend(said);
        }
        let command = self.run.command;
        states.outputs.insert(self.run.name.clone(), RunOutputs { values, command });
        let status = outcomes.iter().map(|outcome| match outcome {
            RuleOutcome::Pass => TestStatus::Pass,
            RuleOutcome::Fail(_) => TestStatus::Fail,
            RuleOutcome::Unknown | RuleOutcome::Error => TestStatus::Error,
        });
        let failed = outcomes.iter().filter(|o| matches!(o, RuleOutcome::Fail(_))).count();
        RunReport {
            status: status.max().unwrap_or(TestStatus::Pass),
            diagnostics,
            shown: self.tester.verbose.then_some(shown),
            assertions: outcomes.len(),
            failed_assertions: failed,
            ..RunReport::default()
        }
    }

    fn runs(&self, states: &States) -> BTreeMap<Arc<str>, Option<Value>> {
        let outputs = |name: &Arc<str>| states.outputs.get(name).map(|run| run.values.clone());
        let runs = self.file.file.runs.iter();
        runs.map(|run| (run.name.clone(), outputs(&run.name))).collect()
    }

    /// After an error.
    fn ended(&self, diagnostics: Diagnostics, shown: ShownResult) -> RunReport {
        let shown = self.tester.verbose.then_some(shown);
        RunReport { shown, ..RunReport::error(diagnostics) }
    }
}

fn planned_outputs(plan: &Plan) -> BTreeMap<Arc<str>, Value> {
    let outputs = plan.changes.outputs.iter();
    outputs.map(|(name, change)| (name.clone(), change.after.clone())).collect()
}

fn is_check(diagnostic: &Diagnostic) -> bool {
    let condition = diagnostic.condition.as_ref();
    condition.is_some_and(|c| {
        matches!(c.object, language::diagnostics::Checkable::Check(_))
            && diagnostic.severity == Severity::Warning
    })
}
