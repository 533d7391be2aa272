//! Conditions, evaluated: whether they hold, and what is said where they do not.

use values::Type;
use values::convert::convert;

use crate::diagnostics::{Cause, Diagnostic, Diagnostics};
use crate::evaluate::Evaluation;
use crate::module::{CheckRule, Variable};
use crate::scope::Scope;
use crate::source::Span;

/// How messages call the result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleWords {
    /// A `validation` of a variable.
    Validation,
    /// A `precondition`, `postcondition` or `assert`.
    Condition,
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
    let (summary, subject) = match words {
        RuleWords::Validation => ("Invalid variable validation result", "validation condition"),
        RuleWords::Condition => ("Invalid condition result", "condition"),
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
            Err(error) => Some(format!("Invalid {subject} result value: {}.", error.message)),
        }
    };
    if let Some(detail) = refused {
        let values = evaluation.describe(&rule.condition, None);
        let diagnostic = Diagnostic::error(summary, detail).at(rule.condition.span);
        evaluation.diagnostics.push(diagnostic.with_values(values));
        return RuleOutcome::Error;
    }
    RuleOutcome::Fail(error_message(evaluation, rule))
}

fn error_message(evaluation: &mut Evaluation<'_>, rule: &CheckRule) -> String {
    const FAILED: &str = "Failed to evaluate condition error message.";
    let expression = &rule.error_message;
    let before = evaluation.diagnostics.len();
    let value = evaluation.expression(expression);
    if evaluation.diagnostics.len() > before {
        return FAILED.to_owned();
    }
    let marks = value.deep_marks();
    let hidden = if marks.is_sensitive() {
        Some(("sensitive", Cause::Sensitive))
    } else if marks.is_ephemeral() {
        Some(("ephemeral", Cause::Ephemeral))
    } else {
        None
    };
    if let Some((kind, cause)) = hidden {
        let remedy = match cause {
            Cause::Sensitive => {
                "\n\nYou can correct this by removing references to sensitive values, or by carefully using the nonsensitive() function if the expression will not reveal the sensitive data."
            }
            _ => "\n\nYou can correct this by removing references to ephemeral values.",
        };
        let values = evaluation.describe(expression, Some(cause));
        evaluation.diagnostics.push(
            Diagnostic::error(
                format!("Error message refers to {kind} values"),
                format!(
                    "The error expression used to explain this condition refers to {kind} values, so Terraform will not display the resulting message.{remedy}"
                ),
            )
            .at(expression.span)
            .with_values(values)
            .because(cause),
        );
        let article = if kind == "sensitive" { "a" } else { "an" };
        return format!(
            "The error message included {article} {kind} value, so it will not be displayed."
        );
    }
    match convert(&value, &Type::String).map(|value| value.as_str().map(str::to_owned)) {
        Ok(Some(message)) => message.trim().to_owned(),
        Ok(None) => FAILED.to_owned(),
        Err(error) => {
            evaluation.diagnostics.push(
                Diagnostic::error(
                    "Invalid error message",
                    format!("Unsuitable value for error message: {}.", error.message),
                )
                .at(expression.span),
            );
            FAILED.to_owned()
        }
    }
}

/// Evaluates a variable's validations in a scope in which the variable has its final value.
/// `subject` is where the value was given, or the variable's declaration in a root module.
pub fn check_variable(scope: &dyn Scope, variable: &Variable, subject: Span) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for rule in &variable.validations {
        let mut evaluation = Evaluation::new(scope);
        let outcome = evaluate_rule(&mut evaluation, rule, RuleWords::Validation);
        let values = match outcome {
            RuleOutcome::Fail(_) => evaluation.describe(&rule.condition, None),
            _ => Vec::new(),
        };
        diagnostics.extend(evaluation.diagnostics);
        if let RuleOutcome::Fail(message) = outcome {
            let place = scope.sources().range(rule.span);
            diagnostics.push(
                Diagnostic::error(
                    "Invalid value for variable",
                    format!("{message}\n\nThis was checked by the validation rule at {place}."),
                )
                .at(subject)
                .with_values(values),
            );
        }
    }
    diagnostics
}
