//! Values of root variables where nobody can be asked.

use crate::function_environment::OpenBundle;
use crate::source::Source;
use engine::Variables;
use language::diagnostics::Diagnostics;
use language::variables::{VariableArgument, VariableInputs, given_values};
use std::collections::BTreeMap;
use std::path::Path;

/// The values that the function's environment and the bundle's files give; with errors where one is missing.
pub(super) fn values(
    bundle: &OpenBundle,
    source: &Source,
    environment: &BTreeMap<String, String>,
) -> (Variables, Diagnostics) {
    let sources = &source.configuration.sources;
    let module = &source.configuration.root.module;
    let files = bundle.settings.var_files.iter().cloned().map(VariableArgument::File);
    let inputs = VariableInputs { environment: environment.clone(), arguments: files.collect() };
    let (given, mut diagnostics) = given_values(&*bundle.files(), Path::new(""), &inputs, sources);
    if diagnostics.has_errors() {
        return (Variables::new(), diagnostics);
    }
    let (resolved, found) = given.resolve(module, sources);
    diagnostics.extend(found);
    diagnostics.extend(resolved.refuse_missing(module));
    (resolved.values, diagnostics)
}
