//! What is tested: the module under test, its test files, and the modules that runs name.

use crate::failure::Failure;
use crate::flags::Flags;
use crate::required_providers;
use crate::session::Session;
use crate::tested_modules::TestedModules;
use crate::variables;
use engine::module_tests::{SuiteFile, TestSuite};
use language::module::test_file::{self, DEFAULT_DIRECTORY};
use language::variables::{VariableInputs, given_values};
use std::path::Path;

/// # Errors
/// Where configuration, test files or values cannot be read, or `plumb init` has to run first.
pub(super) fn load(session: &Session, flags: &Flags) -> Result<TestSuite, Failure> {
    let (source, warnings, packages) = session.checked_configuration()?;
    let configuration = source.configuration;
    let sources = configuration.sources.clone();
    let fail = |diagnostics| Failure::Diagnostics(diagnostics, sources.clone());
    let files = &*session.directory.files;
    let directory = flags.value("test-directory").unwrap_or(DEFAULT_DIRECTORY);
    let (found, mut diagnostics) = test_file::load(files, directory, &sources);
    let mut modules = TestedModules::new(&session.directory, sources.clone());
    let mut loaded = Vec::new();
    for file in found {
        let (of_runs, problems) = modules.of_runs(&file);
        diagnostics.extend(problems);
        loaded.push((file, of_runs));
    }
    if diagnostics.has_errors() {
        return Err(fail(diagnostics));
    }
    for module in modules.all() {
        required_providers::check(module, &packages)?;
    }
    let environment = session.environment.input_variables();
    let inputs = VariableInputs { environment, arguments: variables::arguments(flags) };
    let (values, found) = given_values(files, Path::new(""), &inputs, &sources);
    diagnostics.extend(found);
    // Beside the tests, and for them alone.
    let beside = Path::new(directory);
    let (inner, found) = given_values(files, beside, &VariableInputs::default(), &sources);
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return Err(fail(diagnostics));
    }
    session.reporter.diagnostics(&warnings, &sources);
    session.reporter.diagnostics(&diagnostics, &sources);
    let within = values.overlaid(&inner);
    let wanted: Vec<&str> = flags.all(&["filter"]).map(|(_, name)| name).collect();
    let files = loaded
        .into_iter()
        .filter(|(file, _)| wanted.is_empty() || wanted.contains(&&*file.name))
        .map(|(file, modules)| {
            let values = if file.name.contains('/') { &within } else { &values };
            SuiteFile { file, modules, values: values.clone() }
        });
    Ok(TestSuite { configuration: configuration.clone(), files: files.collect() })
}
