//! Errors and warnings about configuration, as data.

use std::sync::Arc;

use serde::Serialize;
use values::address::{ModuleInstance, ResourceInstance};

use crate::source::{Sources, Span};

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The operation cannot succeed.
    Error,
    /// The operation goes on.
    Warning,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One line, without a full stop.
    pub summary: String,
    /// Whole sentences; paragraphs are separated by a newline. May be empty.
    pub detail: String,
    /// What the diagnostic is about; underlined.
    pub subject: Option<Span>,
    /// The surroundings that are shown with the subject.
    pub context: Option<Span>,
    /// What was known when an expression failed.
    pub expression: Option<ExpressionSnapshot>,
    /// The resource instance concerned.
    pub address: Option<String>,
    /// Why the value was refused, where that changes how the diagnostic is reported.
    pub cause: Option<Cause>,
    /// The condition that does not hold, where the diagnostic is about one that a module's author wrote.
    pub condition: Option<FailedCondition>,
}

/// A condition of a module's author that does not hold: tests may expect that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCondition {
    /// Where its object is declared.
    pub module: ModuleInstance,
    /// What it belongs to.
    pub object: Checkable,
    /// What it was found to be before it became a warning.
    pub found: Severity,
}

/// What conditions belong to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checkable {
    /// `var.name`
    Variable(Arc<str>),
    /// `output.name`
    Output(Arc<str>),
    /// `check.name`
    Check(Arc<str>),
    /// An instance of a resource or data source.
    Resource(ResourceInstance),
}

/// A property of a value that led to a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The value is known only after apply.
    Unknown,
    /// The value is sensitive.
    Sensitive,
    /// The value is ephemeral.
    Ephemeral,
}

/// The values that an expression saw when it failed, as prepared statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpressionSnapshot {
    /// `var.x` with `is "abc"`: the reference, and what is said about it.
    pub values: Vec<(String, String)>,
    /// The function that was being called.
    pub function_call: Option<FunctionCallNote>,
}

/// A function call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionCallNote {
    /// The name as it was written.
    pub called_as: String,
    /// What the function takes, if it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<FunctionSignature>,
}

/// What a function takes and returns. Types are in the JSON form of type constraints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionSignature {
    /// The name without namespaces.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Positional parameters.
    pub params: Vec<FunctionParameter>,
    /// The parameter that takes all further arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variadic_param: Option<FunctionParameter>,
    /// The type of its result.
    pub return_type: serde_json::Value,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionParameter {
    /// Its name.
    pub name: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub type_constraint: serde_json::Value,
}

/// As tests name it.
impl std::fmt::Display for Checkable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Checkable::Variable(name) => write!(f, "var.{name}"),
            Checkable::Output(name) => write!(f, "output.{name}"),
            Checkable::Check(name) => write!(f, "check.{name}"),
            Checkable::Resource(address) => write!(f, "{address}"),
        }
    }
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(severity: Severity, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity,
            summary: summary.into(),
            detail: detail.into(),
            subject: None,
            context: None,
            expression: None,
            address: None,
            cause: None,
            condition: None,
        }
    }

    /// An error without a place.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary, detail)
    }

    /// A warning without a place.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary, detail)
    }

    /// Sets the subject.
    #[must_use]
    pub fn at(mut self, subject: Span) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Sets the context.
    #[must_use]
    pub fn within(mut self, context: Span) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets the resource instance concerned.
    #[must_use]
    pub fn for_address(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Adds the values that the failing expression saw: reference and statement (`is "abc"`).
    #[must_use]
    pub fn with_values(mut self, values: Vec<(String, String)>) -> Self {
        self.expression.get_or_insert_default().values.extend(values);
        self
    }

    /// Notes the function that was being called.
    #[must_use]
    pub fn in_function_call(mut self, note: FunctionCallNote) -> Self {
        self.expression.get_or_insert_default().function_call = Some(note);
        self
    }

    /// Notes the property of a value that led to this.
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Notes the condition that does not hold; it counts as what the diagnostic is by now.
    #[must_use]
    pub fn of_condition(mut self, module: &ModuleInstance, object: Checkable) -> Self {
        let found = self.severity;
        self.condition = Some(FailedCondition { module: module.clone(), object, found });
        self
    }

    /// The same as an error.
    #[must_use]
    pub fn as_error(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// The same as a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Diagnostics in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// No diagnostics.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Moves those from `from` on to before `to`, for a parser that finds the outer error last.
    pub(crate) fn move_to(&mut self, from: usize, to: usize) {
        if to < from && from < self.0.len() {
            let length = self.0.len() - from;
            self.0[to..].rotate_right(length);
        }
    }

    /// In the order of discovery.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// In the order of discovery, to be completed with an address or values.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.0.iter_mut()
    }

    /// In the order in which they are reported: warnings before errors, those without a place
    /// first, then by the file's depth, its name and the place in it. Otherwise as they were found.
    #[must_use]
    pub fn sorted(mut self, sources: &Sources) -> Self {
        self.0.sort_by_cached_key(|diagnostic| {
            let place = diagnostic.subject.map(|span| {
                let name = sources.name(span.file);
                (name.matches(['/', '\\']).count(), name, span.start, span.end)
            });
            (std::cmp::Reverse(diagnostic.severity), place)
        });
        self
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
