//! What the vertices of one walk share, and the only door through which they reach anything.

use super::read_logs::{ReadLogs, Reader};
use super::scope::ModuleScope;
use super::{RepetitionData, Working};
use crate::checks::{CheckStatus, Collected, Rule};
use crate::environment::Environment;
use crate::provider_pool::ProviderPool;
use crate::stop::Stop;
use jiff::Timestamp;
use language::diagnostics::{Checkable, Diagnostic, Diagnostics};
use language::evaluate::Evaluation;
use language::module::{Configuration, ModuleNode, Variable};
use language::reads::PartReads;
use language::source::Span;
use language::variables::{InputValue, check_variable};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, SemaphorePermit};
use values::Value;
use values::address::{ModuleInstance, ModulePath};

/// Levels of nesting that a record holds: the type of a value is written beside it and takes two
/// levels for each, and readers take 10 000.
const DEEPEST_STORED: usize = 4_000;

/// Which walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Validate,
    Plan,
    Apply,
    /// Answering a person's questions.
    Inspect,
}

/// Shared by all vertices of a walk.
pub(crate) struct EvalContext {
    pub(crate) environment: Environment,
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) operation: Operation,
    pub(crate) working: Working,
    pub(crate) checks: Collected,
    pub(crate) logs: ReadLogs,
    pub(crate) pool: Arc<ProviderPool>,
    pub(crate) stop: Stop,
    /// Values of root variables as given.
    pub(crate) variables: BTreeMap<Arc<str>, InputValue>,
    /// When the plan was made; `None` while validating.
    pub(crate) plan_timestamp: Option<Timestamp>,
    /// Whether preconditions and postconditions that fail are warnings: nothing is about to be changed.
    pub(crate) conditions_warn: bool,
    permits: Semaphore,
    diagnostics: Mutex<Diagnostics>,
}

impl EvalContext {
    pub(crate) fn new(
        environment: Environment,
        configuration: Arc<Configuration>,
        operation: Operation,
        variables: BTreeMap<Arc<str>, InputValue>,
        plan_timestamp: Option<Timestamp>,
        pool: Arc<ProviderPool>,
        stop: Stop,
    ) -> EvalContext {
        let permits = Semaphore::new(environment.parallelism.max(1));
        EvalContext {
            environment,
            configuration,
            operation,
            working: Working::new(),
            checks: Collected::default(),
            logs: ReadLogs::default(),
            pool,
            stop,
            variables,
            plan_timestamp,
            conditions_warn: false,
            permits,
            diagnostics: Mutex::new(Diagnostics::new()),
        }
    }

    /// Waits until fewer than the allowed number of instances are worked on.
    pub(crate) async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    /// Adds what went wrong; whether an error is among it.
    pub(crate) fn report(&self, diagnostics: impl IntoIterator<Item = Diagnostic>) -> bool {
        let mut all = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        let mut errors = false;
        for diagnostic in diagnostics {
            errors |= diagnostic.is_error();
            all.push(diagnostic);
        }
        errors
    }

    pub(crate) fn take_diagnostics(&self) -> Diagnostics {
        std::mem::take(&mut *self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The declarations of a module.
    pub(crate) fn node(&self, path: &ModulePath) -> Option<&Arc<ModuleNode>> {
        self.configuration.get(path)
    }

    /// Checks the validations of a variable that has its value; whether they hold.
    pub(crate) fn check_variable(
        &self,
        module: &ModuleInstance,
        variable: &Variable,
        subject: Span,
    ) -> bool {
        let Some(node) = self.node(&module.path()) else { return false };
        let data = RepetitionData::default();
        let scope = ModuleScope::new(self, node, module, &data, None);
        let (outcomes, diagnostics) = check_variable(&scope, module, variable, subject);
        for (place, outcome) in outcomes.iter().enumerate() {
            let (status, problem) = CheckStatus::of(outcome);
            let object = Checkable::Variable(variable.name.clone());
            self.checks.add(module, object, Rule::Validation(place), status, problem);
        }
        !self.report(diagnostics)
    }

    /// Whether a value can be stored and read again; else it is reported.
    pub(crate) fn can_be_stored(&self, value: &Value, place: Span) -> bool {
        if self.operation != Operation::Validate && value.holds_infinity() {
            let detail = "This value holds an infinite number, which a record cannot.";
            self.report([Diagnostic::error("Infinite number", detail).at(place)]);
            return false;
        }
        if value.depth() <= DEEPEST_STORED {
            return true;
        }
        self.report([Diagnostic::error(
            "Value nested too deeply",
            format!("This value is nested more than {DEEPEST_STORED} levels deep, which a record cannot hold."),
        )
        .at(place)]);
        false
    }

    /// Evaluates in a module instance; diagnostics are reported. `None` after an error.
    pub(crate) fn evaluate<T>(
        &self,
        module: &ModuleInstance,
        data: &RepetitionData,
        this: Option<Value>,
        evaluate: impl FnOnce(&mut Evaluation<'_>) -> T,
    ) -> Option<T> {
        self.evaluate_reading(None, module, data, this, evaluate)
    }

    /// Evaluates what stands in a `check` block, which alone may look at the data source in it.
    pub(crate) fn evaluate_in_check<T>(
        &self,
        module: &ModuleInstance,
        check: &Arc<str>,
        evaluate: impl FnOnce(&mut Evaluation<'_>) -> T,
    ) -> Option<T> {
        let node = self.node(&module.path())?;
        let data = RepetitionData::default();
        let scope = ModuleScope::new(self, node, module, &data, None).in_check(check);
        let mut evaluation = Evaluation::new(&scope);
        let result = evaluate(&mut evaluation);
        let errors = self.report(evaluation.diagnostics);
        (!errors).then_some(result)
    }

    /// The same as `evaluate`; while planning, what was looked at is kept for `reader`.
    pub(crate) fn evaluate_for<T>(
        &self,
        reader: &Reader,
        module: &ModuleInstance,
        data: &RepetitionData,
        this: Option<Value>,
        evaluate: impl FnOnce(&mut Evaluation<'_>) -> T,
    ) -> Option<T> {
        self.evaluate_reading(Some(reader), module, data, this, evaluate)
    }

    /// Evaluates for what is looked at alone, while planning: nothing is reported, since what is wrong is found again
    /// where the value is needed.
    pub(crate) fn look_for(
        &self,
        reader: &Reader,
        module: &ModuleInstance,
        data: &RepetitionData,
        this: Option<Value>,
        evaluate: impl FnOnce(&mut Evaluation<'_>),
    ) {
        let Some(node) = self.node(&module.path()).filter(|_| self.keeps_reads()) else { return };
        let scope = ModuleScope::new(self, node, module, data, this);
        let mut evaluation = Evaluation::new(&scope);
        evaluate(&mut evaluation);
        self.logs.add(reader, evaluation.reads);
    }

    fn evaluate_reading<T>(
        &self,
        reader: Option<&Reader>,
        module: &ModuleInstance,
        data: &RepetitionData,
        this: Option<Value>,
        evaluate: impl FnOnce(&mut Evaluation<'_>) -> T,
    ) -> Option<T> {
        let node = self.node(&module.path())?;
        let scope = ModuleScope::new(self, node, module, data, this);
        let mut evaluation = Evaluation::new(&scope);
        let result = evaluate(&mut evaluation);
        if let Some(reader) = reader.filter(|_| self.keeps_reads()) {
            self.logs.add(reader, evaluation.reads);
        }
        let errors = self.report(evaluation.diagnostics);
        (!errors).then_some(result)
    }

    /// Keeps what the evaluation of a value looked at, while planning.
    pub(crate) fn keep_reads(&self, reader: Reader, reads: PartReads) {
        if self.keeps_reads() {
            self.logs.set(reader, reads);
        }
    }

    fn keeps_reads(&self) -> bool {
        self.operation == Operation::Plan
    }
}
