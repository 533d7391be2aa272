//! What was given, read for the variables that a module declares.

use std::collections::BTreeMap;
use std::sync::Arc;

use values::{Marks, Value};

use super::{Content, GivenValue, InputValue, RootValues, ValueSource};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::evaluate::constant;
use crate::module::{Module, TextForm, Variable};
use crate::source::Sources;
use crate::syntax::parse_expression;

/// The values for a module's variables as far as they were given.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// By name; variables that are not here have their default.
    pub values: BTreeMap<Arc<str>, InputValue>,
    /// Required variables for which nothing usable was given: to be asked for, or refused with
    /// [`Resolved::refuse_missing`].
    pub missing: Vec<Arc<str>>,
}

/// Values for undeclared variables are reported one by one up to so many.
const SHOWN_UNDECLARED: usize = 2;

impl RootValues {
    /// Adds a value, as a person or the program itself gives it.
    pub fn insert_text(&mut self, name: impl Into<Arc<str>>, text: String, source: ValueSource) {
        self.0.insert(name.into(), GivenValue { content: Content::Text(text), source });
    }

    /// These, and those of `others` in their place where there are such.
    #[must_use]
    pub fn overlaid(&self, others: &RootValues) -> RootValues {
        let mut all = self.clone();
        all.0.extend(others.0.iter().map(|(name, given)| (name.clone(), given.clone())));
        all
    }

    /// Reads what was given for the variables of a module, and apart from that what was given for others, of which
    /// nothing tells the type.
    pub fn divide(
        &self,
        module: &Module,
        sources: &Sources,
    ) -> (Resolved, BTreeMap<Arc<str>, Value>, Diagnostics) {
        let declared = |name: &Arc<str>| module.variables.contains_key(name);
        let own = self.0.iter().filter(|(name, _)| declared(name));
        let own = RootValues(own.map(|(name, given)| (name.clone(), given.clone())).collect());
        let (resolved, mut diagnostics) = own.resolve(module, sources);
        let others = self.0.iter().filter(|(name, _)| !declared(name));
        let others = others.filter_map(|(name, given)| {
            let value = match &given.content {
                Content::Text(text) => Value::string(text),
                Content::Expression(expression) => {
                    let (value, errors) = constant(expression);
                    let failed = errors.has_errors();
                    diagnostics.extend(errors);
                    if failed {
                        return None;
                    }
                    value
                }
            };
            Some((name.clone(), value))
        });
        let others = others.collect();
        (resolved, others, diagnostics)
    }

    /// Reads what was given for the variables of a module.
    pub fn resolve(&self, module: &Module, sources: &Sources) -> (Resolved, Diagnostics) {
        let mut resolved = Resolved::default();
        let mut diagnostics = Diagnostics::new();
        let mut undeclared = 0;
        for (name, given) in &self.0 {
            match module.variables.get(name) {
                Some(variable) => {
                    let value = read(variable, given, sources, &mut diagnostics);
                    let source = given.source.clone();
                    resolved
                        .values
                        .extend(value.map(|value| (name.clone(), InputValue { value, source })));
                }
                None => refuse_undeclared(name, given, sources, &mut undeclared, &mut diagnostics),
            }
        }
        if undeclared > SHOWN_UNDECLARED {
            diagnostics.push(Diagnostic::warning(
                "Values for undeclared variables",
                format!(
                    "In addition to the other similar warnings shown, {} other variable(s) defined without being declared.",
                    undeclared - SHOWN_UNDECLARED
                ),
            ));
        }
        resolved.missing = module
            .variables
            .values()
            .filter(|v| v.is_required() && !resolved.values.contains_key(&v.name))
            .map(|variable| variable.name.clone())
            .collect();
        (resolved, diagnostics)
    }
}

impl Resolved {
    /// Says of each missing variable that it is.
    pub fn refuse_missing(&self, module: &Module) -> Diagnostics {
        let missing = self.missing.iter().filter_map(|name| module.variables.get(name));
        missing
            .map(|variable| {
                Diagnostic::error(
                    "No value for required variable",
                    format!(
                        "The root module input variable \"{}\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.",
                        variable.name
                    ),
                )
                .at(variable.span)
            })
            .collect()
    }
}

fn read(
    variable: &Variable,
    given: &GivenValue,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    let parsed;
    let expression = match (&given.content, variable.text_form) {
        (Content::Text(text), TextForm::Literal) => return Some(Value::string(text)),
        (Content::Text(text), TextForm::Expression) => {
            let name = format!("<value for var.{}>", variable.name);
            let file = sources.add(name, text.as_bytes());
            let (expression, errors) = parse_expression(sources, file, text.as_bytes(), 0);
            let failed = errors.has_errors();
            diagnostics.extend(errors);
            if failed {
                return None;
            }
            parsed = expression;
            &parsed
        }
        (Content::Expression(expression), _) => expression,
    };
    let (value, errors) = constant(expression);
    let failed = errors.has_errors();
    diagnostics.extend(errors);
    (!failed).then_some(value)
}

fn refuse_undeclared(
    name: &str,
    given: &GivenValue,
    sources: &Sources,
    count: &mut usize,
    diagnostics: &mut Diagnostics,
) {
    const SUMMARY: &str = "Value for undeclared variable";
    match &given.source {
        // One environment serves many configurations.
        ValueSource::Environment
        | ValueSource::Prompt
        | ValueSource::Caller
        | ValueSource::Test(_) => {}
        ValueSource::CommandLine => diagnostics.push(Diagnostic::error(
            SUMMARY,
            format!(
                "A variable named \"{name}\" was assigned on the command line, but the root module does not declare a variable of that name. To use this value, add a \"variable\" block to the configuration."
            ),
        )),
        ValueSource::File(span) => {
            *count += 1;
            if *count <= SHOWN_UNDECLARED {
                diagnostics.push(Diagnostic::warning(
                    SUMMARY,
                    format!(
                        "The root module does not declare a variable named \"{name}\" but a value was found in file \"{}\". If you meant to use this value, add a \"variable\" block to the configuration.\n\nTo silence these warnings, use TF_VAR_... environment variables to provide certain \"global\" settings to all configurations in your organization. To reduce the verbosity of these warnings, use the -compact-warnings option.",
                        sources.name(span.file)
                    ),
                ));
            }
        }
    }
}

/// The value that a root module sees: the default where none is given (or null, where null is no
/// value), converted, with the marks that the variable asks for.
///
/// # Errors
/// Where the value does not fit the variable.
pub fn final_value(
    variable: &Variable,
    given: Option<&InputValue>,
    sources: &Sources,
) -> Result<Value, Box<Diagnostic>> {
    let value = match given {
        Some(given) if variable.nullable || !given.value.is_null() => {
            given_value(variable, given, sources)?
        }
        _ => match (&variable.default, given) {
            (Some(default), _) => default.clone(),
            (None, Some(given)) => {
                let reason = "required variable may not be set to null";
                return Err(unsuitable(
                    variable,
                    given,
                    "Required variable not set",
                    reason,
                    sources,
                ));
            }
            (None, None) => Value::unknown(variable.constraint.ty.without_optional()),
        },
    };
    let mut marks = Marks::NONE;
    if variable.sensitive {
        marks = marks | Marks::SENSITIVE;
    }
    if variable.ephemeral {
        marks = marks | Marks::EPHEMERAL;
    }
    Ok(value.with_marks(marks))
}

fn given_value(
    variable: &Variable,
    given: &InputValue,
    sources: &Sources,
) -> Result<Value, Box<Diagnostic>> {
    variable.constraint.apply(&given.value).map_err(|error| {
        unsuitable(variable, given, "Invalid value for input variable", &error.message, sources)
    })
}

fn unsuitable(
    variable: &Variable,
    given: &InputValue,
    summary: &str,
    reason: &str,
    sources: &Sources,
) -> Box<Diagnostic> {
    let name = &variable.name;
    let how = match &given.source {
        ValueSource::File(span) | ValueSource::Test(span) => {
            let place = sources.range(variable.span);
            let verb = if given.value.is_null() { "defined" } else { "declared" };
            let detail = format!(
                "The given value is not suitable for var.{name} {verb} at {place}: {reason}."
            );
            return Box::new(Diagnostic::error(summary, detail).at(*span));
        }
        ValueSource::Environment => format!("using the TF_VAR_{name} environment variable"),
        ValueSource::CommandLine => format!("using -var=\"{name}=...\""),
        ValueSource::Prompt => "using an interactive prompt".to_owned(),
        ValueSource::Caller => "from outside of the configuration".to_owned(),
    };
    let detail = format!("Unsuitable value for var.{name} set {how}: {reason}.");
    Box::new(Diagnostic::error(summary, detail).at(variable.span))
}
