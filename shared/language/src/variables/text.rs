//! Values of variables as text that stands in no file: what `.tfvars` files have.

use std::collections::BTreeMap;
use std::sync::Arc;

use values::Value;

use crate::diagnostics::Diagnostics;
use crate::evaluate::constant;
use crate::rendering::arguments_text;
use crate::source::Sources;
use crate::syntax::{is_identifier, parse_body};

/// Why a text has no values, or values no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValuesTextError {
    /// The text cannot be parsed.
    #[error("invalid tfvars syntax: {0}")]
    Syntax(String),
    /// The text has something else than arguments.
    #[error("invalid tfvars content: {0}")]
    Content(String),
    /// An argument is more than a constant.
    #[error("invalid expression for variable {name:?}: {problem}")]
    Expression {
        /// The argument.
        name: Arc<str>,
        /// What is wrong with it.
        problem: String,
    },
    /// No variable can have this name.
    #[error(
        "invalid variable name {0:?}: must be a valid identifier, per Terraform's rules for input variable declarations"
    )]
    Name(Arc<str>),
}

/// The values that a text gives to variables, as it would in a `.tfvars` file; `name` stands for the file in messages.
///
/// # Errors
/// What is wrong with the text.
pub fn values_from_text(
    name: &str,
    text: &str,
) -> Result<BTreeMap<Arc<str>, Value>, ValuesTextError> {
    let sources = Sources::new();
    let file = sources.add(name, text.as_bytes());
    let (body, diagnostics) = parse_body(&sources, file);
    if diagnostics.has_errors() {
        return Err(ValuesTextError::Syntax(in_one_line(&diagnostics, &sources)));
    }
    if let Some(block) = body.blocks.first() {
        let place = sources.range(block.type_span);
        let others = others(body.blocks.len());
        return Err(ValuesTextError::Content(format!(
            "{place}: Unexpected {:?} block; Blocks are not allowed here.{others}",
            &*block.type_name
        )));
    }
    let mut values = BTreeMap::new();
    for attribute in &body.attributes {
        let (value, diagnostics) = constant(&attribute.expression);
        if diagnostics.has_errors() {
            let problem = in_one_line(&diagnostics, &sources);
            return Err(ValuesTextError::Expression { name: attribute.name.clone(), problem });
        }
        values.insert(attribute.name.clone(), value);
    }
    Ok(values)
}

/// The content of a `.tfvars` file that gives these values.
///
/// # Errors
/// Where a name is none that a variable can have.
pub fn text_of_values(values: &BTreeMap<Arc<str>, Value>) -> Result<String, ValuesTextError> {
    if let Some(name) = values.keys().find(|name| !is_identifier(name)) {
        return Err(ValuesTextError::Name(name.clone()));
    }
    Ok(arguments_text(values.iter().map(|(name, value)| (&**name, value))))
}

fn in_one_line(diagnostics: &Diagnostics, sources: &Sources) -> String {
    let Some(first) = diagnostics.iter().next() else { return String::new() };
    let place = match first.subject {
        Some(span) => format!("{}: ", sources.range(span)),
        None => String::new(),
    };
    let others = others(diagnostics.len());
    format!("{place}{}; {}{others}", first.summary, first.detail)
}

fn others(all: usize) -> String {
    match all {
        0 | 1 => String::new(),
        more => format!(", and {} other diagnostic(s)", more - 1),
    }
}
