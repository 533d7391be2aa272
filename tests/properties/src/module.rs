//! A file as the only one of a module.

use std::path::Path;
use std::sync::Arc;

use language::files::Memory;
use language::module::{LoadOptions, load, validate_module_arguments, validate_references};
use language::source::Sources;

use crate::diagnostics::can_be_shown;

/// Reads the module, and checks it as far as it can be checked without providers.
pub(crate) fn is_read_or_refused(name: &str, text: &[u8]) {
    let files: Memory = [(name, text)].into_iter().collect();
    let sources = Arc::new(Sources::new());
    let (configuration, mut diagnostics) =
        load(&files, Path::new("."), sources.clone(), LoadOptions::default());
    if !diagnostics.has_errors() {
        diagnostics.extend(validate_references(&configuration));
        diagnostics.extend(validate_module_arguments(&configuration));
    }
    can_be_shown(&diagnostics, &sources);
}
