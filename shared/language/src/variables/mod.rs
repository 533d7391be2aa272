//! Values for the variables of a root module: where they are given, and what becomes of them.
//!
//! [`given_values`] gathers what the environment, files and the command line say; the last to say
//! something wins. [`RootValues::resolve`] reads it for the variables that a module declares, and
//! [`final_value`] brings one value into the form that the module sees.

mod files;
mod resolve;
mod rules;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use values::Value;

use crate::source::Span;
use crate::syntax::ast::Expression;

pub use files::given_values;
pub use resolve::{Resolved, final_value};
pub use rules::{RuleOutcome, RuleWords, check_variable, evaluate_assertion, evaluate_rule};
pub use text::{ValuesTextError, text_of_values, values_from_text};

/// What the caller of a command says about variables.
#[derive(Clone, Debug, Default)]
pub struct VariableInputs {
    /// The environment; only names that start with `TF_VAR_` count.
    pub environment: BTreeMap<String, String>,
    /// `-var` and `-var-file`, in the order of the command line.
    pub arguments: Vec<VariableArgument>,
}

/// One `-var` or `-var-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableArgument {
    /// `NAME=VALUE`
    Assignment(String),
    /// The name of a file.
    File(PathBuf),
}

/// What was given, by the variable's name; not yet read.
#[derive(Clone, Debug, Default)]
pub struct RootValues(pub(crate) BTreeMap<Arc<str>, GivenValue>);

/// One value that was given.
#[derive(Clone, Debug)]
pub(crate) struct GivenValue {
    pub(crate) content: Content,
    pub(crate) source: ValueSource,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Text, whose meaning depends on the variable's type.
    Text(String),
    /// An expression of a file.
    Expression(Expression),
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// `TF_VAR_name`
    Environment,
    /// A file, at the place of the value.
    File(Span),
    /// A test file, at the place of the value.
    Test(Span),
    /// `-var`
    CommandLine,
    /// A person was asked.
    Prompt,
    /// The program itself, for example from a saved plan.
    Caller,
}

/// A value for a variable, before it is converted.
#[derive(Clone, Debug)]
pub struct InputValue {
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub source: ValueSource,
}
