//! The modules that test files have their runs test, beside the module under test.

use crate::working_directory::WorkingDirectory;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::test_file::{Run, TestFile};
use language::module::{Configuration, LoadOptions, ModuleSource, load};
use language::source::Sources;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Modules of runs; each is read once.
pub(crate) struct TestedModules<'a> {
    directory: &'a WorkingDirectory,
    sources: Arc<Sources>,
    known: BTreeMap<String, Arc<Configuration>>,
}

/// The modules of one file's runs, by the name of the run.
pub(crate) type ModulesOfRuns = BTreeMap<Arc<str>, Arc<Configuration>>;

impl<'a> TestedModules<'a> {
    pub(crate) fn new(directory: &'a WorkingDirectory, sources: Arc<Sources>) -> TestedModules<'a> {
        TestedModules { directory, sources, known: BTreeMap::new() }
    }

    /// All that were read.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Configuration>> {
        self.known.values()
    }

    /// Reads the modules of a file's runs.
    pub(crate) fn of_runs(&mut self, file: &TestFile) -> (ModulesOfRuns, Diagnostics) {
        let mut found = ModulesOfRuns::new();
        let mut diagnostics = Diagnostics::new();
        for run in &file.runs {
            match self.of_run(run) {
                Ok(module) => found.extend(module.map(|module| (run.name.clone(), module))),
                Err(problems) => diagnostics.extend(problems),
            }
        }
        (found, diagnostics)
    }

    fn of_run(&mut self, run: &Run) -> Result<Option<Arc<Configuration>>, Diagnostics> {
        let Some(module) = &run.module else { return Ok(None) };
        // What is wrong with the address was said.
        let Some(source) = &module.source else { return Ok(None) };
        let ModuleSource::Local(path) = source else {
            let detail = format!(
                "The run {:?} tests the module {source}. Runs can have modules at local paths alone: call it from a module beside the tests.",
                &*run.name
            );
            let error = Diagnostic::error("Module source not supported in tests", detail);
            return Err(error.at(module.span).into());
        };
        let path: &str = path;
        if let Some(known) = self.known.get(path) {
            return Ok(Some(known.clone()));
        }
        let options = LoadOptions::default();
        let (configuration, diagnostics) =
            load(&*self.directory.files, Path::new(path), self.sources.clone(), options);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let configuration = Arc::new(configuration);
        self.known.insert(path.to_owned(), configuration.clone());
        Ok(Some(configuration))
    }
}
