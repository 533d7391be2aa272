//! `plumb get`: installs modules.

use super::modules;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;
use language::module::read_module;
use language::source::Sources;
use std::path::Path;
use std::sync::Arc;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, get).await
}

async fn get(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To specify a working directory, use the global -chdir flag.")?;
    let sources = Arc::new(Sources::new());
    let (root, diagnostics) = read_module(&*session.directory.files, Path::new(""), &sources);
    if diagnostics.has_errors() {
        return Err(Failure::Diagnostics(diagnostics, sources));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    let (update, may_ask) = (flags.switch("update", false), session.environment.input());
    let noticed = modules::install(session, Arc::new(root), &sources, update, may_ask).await?;
    session.reporter.diagnostics(&noticed.installing, &sources);
    session.reporter.diagnostics(&noticed.in_files, &sources);
    Ok(0)
}
