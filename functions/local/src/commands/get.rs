//! `plumb get`: notes which modules are installed.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flag;
use crate::invocation::Invocation;
use crate::session::Session;
use language::module::ModuleManifest;
use runs::source::{self, Modules};

pub(super) fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let known =
        [Flag::Switch("no-color"), Flag::Switch("update"), Flag::Unsupported("test-directory")];
    match super::begin(invocation, environment, &known) {
        Ok((session, _)) => {
            let result = get(&session);
            session.conclude(result, "get")
        }
        Err(code) => code,
    }
}

fn get(session: &Session) -> Result<u8, Failure> {
    let (source, diagnostics) = source::from_directory(&*session.directory.files, Modules::All);
    let sources = source.configuration.sources.clone();
    if diagnostics.has_errors() {
        return Err(Failure::Diagnostics(diagnostics, sources));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    session.directory.write_manifest(&ModuleManifest::of(&source.configuration))?;
    Ok(0)
}
