//! Values for root variables: given, or asked for.

use crate::failure::Failure;
use crate::flags::Flags;
use crate::prompt;
use crate::session::Session;
use engine::Variables;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Module;
use language::variables::{
    RootValues, ValueSource, VariableArgument, VariableInputs, given_values,
};
use runs::source::Source;
use std::path::Path;
use std::sync::Arc;

/// `-var` and `-var-file`, in the order of the command line.
pub(crate) fn arguments(flags: &Flags) -> Vec<VariableArgument> {
    flags
        .all(&["var", "var-file"])
        .map(|(name, value)| match name {
            "var" => VariableArgument::Assignment(value.to_owned()),
            _ => VariableArgument::File(value.into()),
        })
        .collect()
}

/// Where values come from: the environment, the estate's own files, and then what is given by hand.
///
/// # Errors
/// Where the project's file cannot be used.
fn inputs(session: &Session, by_hand: Vec<VariableArgument>) -> Result<VariableInputs, Failure> {
    let project = session.project()?;
    let own = project.var_files().iter().cloned().map(VariableArgument::File);
    let arguments = own.chain(by_hand).collect();
    Ok(VariableInputs { environment: session.environment.input_variables(), arguments })
}

/// Gathers all values, and asks for those that are missing if that is allowed.
///
/// # Errors
/// Where a value is missing or cannot be read. Warnings are in the answer.
pub(crate) async fn values(
    session: &Session,
    source: &Source,
    arguments: Vec<VariableArgument>,
    input: bool,
) -> Result<(Variables, Diagnostics), Failure> {
    let sources = &source.configuration.sources;
    let module = &source.configuration.root.module;
    let inputs = inputs(session, arguments)?;
    let fail = |diagnostics| Failure::Diagnostics(diagnostics, sources.clone());
    let (mut given, mut diagnostics) =
        given_values(&*session.directory.files, Path::new(""), &inputs, sources);
    if diagnostics.has_errors() {
        return Err(fail(diagnostics));
    }
    let (mut resolved, mut found) = given.resolve(module, sources);
    if input && !found.has_errors() && !resolved.missing.is_empty() {
        ask(session, module, &resolved.missing, &mut given).await?;
        (resolved, found) = given.resolve(module, sources);
    }
    diagnostics.extend(found);
    diagnostics.extend(resolved.refuse_missing(module));
    match diagnostics.has_errors() {
        true => Err(fail(diagnostics)),
        false => Ok((resolved.values, diagnostics)),
    }
}

/// The values for a command that has no other flags about them than `-var`, `-var-file` and `-input`.
///
/// # Errors
/// As [`values`].
pub(crate) async fn of_command(
    session: &Session,
    flags: &Flags,
    source: &Source,
) -> Result<(Variables, Diagnostics), Failure> {
    let input = flags.switch("input", session.environment.input());
    values(session, source, arguments(flags), input).await
}

/// The values that are given; there may be fewer than variables.
///
/// # Errors
/// Where a value cannot be read.
pub(crate) fn given(
    session: &Session,
    source: &Source,
    arguments: Vec<VariableArgument>,
) -> Result<(Variables, Diagnostics), Failure> {
    let sources = &source.configuration.sources;
    let inputs = inputs(session, arguments)?;
    let (given, mut diagnostics) =
        given_values(&*session.directory.files, Path::new(""), &inputs, sources);
    let (resolved, found) = given.resolve(&source.configuration.root.module, sources);
    diagnostics.extend(found);
    match diagnostics.has_errors() {
        true => Err(Failure::Diagnostics(diagnostics, sources.clone())),
        false => Ok((resolved.values, diagnostics)),
    }
}

async fn ask(
    session: &Session,
    module: &Module,
    missing: &[Arc<str>],
    given: &mut RootValues,
) -> Result<(), Failure> {
    let mut names = missing.to_vec();
    names.sort();
    for name in names {
        let variable = module.variables.get(&name);
        let description = variable.and_then(|variable| variable.description.clone());
        let description = description.as_deref().unwrap_or_default().to_owned();
        let answer = prompt::ask(&session.stop, format!("var.{name}"), description).await;
        let answer = answer.map_err(|error| {
            Diagnostic::error(
                "No value for required variable",
                format!("The root module input variable \"{name}\" was asked for, and no answer came: {error}."),
            )
        })?;
        given.insert_text(name, answer, ValueSource::Prompt);
    }
    Ok(())
}
