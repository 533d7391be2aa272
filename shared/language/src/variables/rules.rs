//! Conditions, evaluated: whether they hold, and what is said where they do not.

use values::address::ModuleInstance;
use values::convert::convert;
use values::{Type, Value};

use crate::diagnostics::{Cause, Checkable, Diagnostic, Diagnostics};
use crate::evaluate::Evaluation;
use crate::module::{CheckRule, Variable};
use crate::scope::Scope;
use crate::source::Span;

/// How messages call the result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleWords {
    /// A `validation` of a variable.
    Validation,
    /// A `precondition`, `postcondition` or `assert` of a `check` block.
    Condition,
    /// An `assert` of a test.
    Assertion,
}

/// What a condition came to.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleOutcome {
    /// It holds.
    Pass,
    /// It does not hold; with the message.
    Fail(String),
    /// It is not known yet.
    Unknown,
    /// It could not be evaluated; the evaluation has the diagnostics.
    Error,
}

/// Evaluates a condition and, where it does not hold, its error message.
pub fn evaluate_rule(
    evaluation: &mut Evaluation<'_>,
    rule: &CheckRule,
    words: RuleWords,
) -> RuleOutcome {
    let before = evaluation.diagnostics.len();
    let value = evaluation.expression(&rule.condition);
    if evaluation.diagnostics.len() > before {
        return RuleOutcome::Error;
    }
    match truth(evaluation, rule, &value, words) {
        RuleOutcome::Fail(_) => match error_message(evaluation, rule, words) {
            Some(message) => RuleOutcome::Fail(message),
            None => RuleOutcome::Error,
        },
        outcome => outcome,
    }
}

/// Evaluates an assertion of a test. Its error message is evaluated whether or not the condition holds.
pub fn evaluate_assertion(evaluation: &mut Evaluation<'_>, rule: &CheckRule) -> RuleOutcome {
    let words = RuleWords::Assertion;
    let message = error_message(evaluation, rule, words);
    let before = evaluation.diagnostics.len();
    let value = evaluation.expression(&rule.condition);
    if evaluation.diagnostics.len() > before {
        return RuleOutcome::Error;
    }
    let Some(message) = message else { return RuleOutcome::Error };
    match truth(evaluation, rule, &value, words) {
        RuleOutcome::Fail(_) => RuleOutcome::Fail(message),
        outcome => outcome,
    }
}

/// Whether a condition that came to a value holds; where it does not, without a message.
fn truth(
    evaluation: &mut Evaluation<'_>,
    rule: &CheckRule,
    value: &Value,
    words: RuleWords,
) -> RuleOutcome {
    let (summary, subject) = match words {
        RuleWords::Validation => ("Invalid variable validation result", "validation condition"),
        RuleWords::Condition => ("Invalid condition result", "condition"),
        RuleWords::Assertion => ("Invalid condition run", "condition"),
    };
    let value = value.unmark();
    if !value.is_known() {
        return RuleOutcome::Unknown;
    }
    let refused = if value.is_null() {
        let mut start = subject.to_owned();
        start[..1].make_ascii_uppercase();
        Some(format!("{start} expression must return either true or false, not null."))
    } else {
        match convert(&value, &Type::Bool) {
            Ok(value) => match value.as_bool() {
                Some(true) => return RuleOutcome::Pass,
                Some(false) => None,
                None => return RuleOutcome::Unknown,
            },
            Err(error) => {
                let result = if words == RuleWords::Assertion { "run" } else { "result" };
                Some(format!("Invalid {subject} {result} value: {}.", error.message))
            }
        }
    };
    if let Some(detail) = refused {
        let values = evaluation.describe(&rule.condition, None);
        let diagnostic = Diagnostic::error(summary, detail).at(rule.condition.span);
        evaluation.diagnostics.push(diagnostic.with_values(values));
        return RuleOutcome::Error;
    }
    RuleOutcome::Fail(String::new())
}

impl RuleWords {
    /// What is said where the error message has nothing to say.
    fn without_message(self) -> String {
        match self {
            RuleWords::Validation => "Failed to evaluate condition error message.",
            RuleWords::Condition => {
                "This check failed, but has an invalid error message as described in the other accompanying messages."
            }
            RuleWords::Assertion => "",
        }
        .into()
    }

    /// That an error message would disclose a value. Of a condition, the message alone is lost.
    fn hidden(self, cause: Cause) -> Diagnostic {
        let kind = if cause == Cause::Sensitive { "sensitive" } else { "ephemeral" };
        let (not_shown, remedy) = match (self, cause) {
            (_, Cause::Sensitive) => (
                ", so Terraform",
                "or by carefully using the nonsensitive() function if the expression will not reveal the sensitive data.",
            ),
            (RuleWords::Validation, _) => (
                ". Terraform",
                "or by carefully using the ephemeralasnull() function if the expression will not reveal the ephemeral data.",
            ),
            (RuleWords::Condition | RuleWords::Assertion, _) => (
                ", so Terraform",
                "or by using the ephemeralasnull() function on the references to not reveal ephemeral data.",
            ),
        };
        let summary = format!("Error message refers to {kind} values");
        let detail = format!(
            "The error expression used to explain this condition refers to {kind} values{not_shown} will not display the resulting message.\n\nYou can correct this by removing references to {kind} values, {remedy}"
        );
        match self {
            RuleWords::Validation => Diagnostic::error(summary, detail),
            RuleWords::Condition | RuleWords::Assertion => Diagnostic::warning(summary, detail),
        }
        .because(cause)
    }
}

/// What is said where a condition does not hold; `None` where that is an error of its own.
fn error_message(
    evaluation: &mut Evaluation<'_>,
    rule: &CheckRule,
    words: RuleWords,
) -> Option<String> {
    let expression = &rule.error_message;
    let before = evaluation.diagnostics.len();
    let value = evaluation.expression(expression);
    // A validation that fails says so in any case.
    let invalid = || match words {
        RuleWords::Validation => Some(words.without_message()),
        RuleWords::Condition | RuleWords::Assertion => None,
    };
    if evaluation.diagnostics.len() > before {
        return invalid();
    }
    let marks = value.deep_marks();
    let cause = match (marks.is_sensitive(), marks.is_ephemeral()) {
        (true, _) => Some(Cause::Sensitive),
        (false, true) => Some(Cause::Ephemeral),
        (false, false) => None,
    };
    if let Some(cause) = cause {
        let mut hidden = words.hidden(cause).at(expression.span);
        if words == RuleWords::Assertion {
            hidden = hidden.with_values(evaluation.describe(expression, None));
        }
        evaluation.diagnostics.push(hidden);
        return Some(match words {
            RuleWords::Validation => {
                "The error message included a sensitive value, so it will not be displayed.".into()
            }
            RuleWords::Condition | RuleWords::Assertion => words.without_message(),
        });
    }
    match convert(&value, &Type::String).map(|value| value.as_str().map(str::to_owned)) {
        Ok(Some(message)) if message.trim().is_empty() => Some(words.without_message()),
        Ok(Some(message)) => Some(message.trim().to_owned()),
        Ok(None) if value.is_null() && words != RuleWords::Validation => {
            evaluation.diagnostics.push(
                Diagnostic::error(
                    "Invalid error message",
                    "Unsuitable value for error message: must not be null.",
                )
                .at(expression.span),
            );
            None
        }
        Ok(None) => Some(words.without_message()),
        Err(error) => {
            evaluation.diagnostics.push(
                Diagnostic::error(
                    "Invalid error message",
                    format!("Unsuitable value for error message: {}.", error.message),
                )
                .at(expression.span),
            );
            invalid()
        }
    }
}

/// Evaluates the validations of a variable of `module` in a scope in which the variable has its final value.
/// `subject` is where the value was given, or the variable's declaration in a root module. What each came to, in their
/// order, and what is to be reported.
pub fn check_variable(
    scope: &dyn Scope,
    module: &ModuleInstance,
    variable: &Variable,
    subject: Span,
) -> (Vec<RuleOutcome>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut outcomes = Vec::with_capacity(variable.validations.len());
    for rule in &variable.validations {
        let mut evaluation = Evaluation::new(scope);
        let outcome = evaluate_rule(&mut evaluation, rule, RuleWords::Validation);
        let values = match outcome {
            RuleOutcome::Fail(_) => evaluation.describe(&rule.condition, None),
            _ => Vec::new(),
        };
        diagnostics.extend(evaluation.diagnostics);
        if let RuleOutcome::Fail(message) = &outcome {
            let place = scope.sources().range(rule.span);
            diagnostics.push(
                Diagnostic::error(
                    "Invalid value for variable",
                    format!("{message}\n\nThis was checked by the validation rule at {place}."),
                )
                .at(subject)
                .with_values(values)
                .of_condition(module, Checkable::Variable(variable.name.clone())),
            );
        }
        outcomes.push(outcome);
    }
    (outcomes, diagnostics)
}
