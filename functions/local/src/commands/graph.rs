//! `plumb graph`: what depends on what.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;
use engine::inspection::resource_dependencies;
use views::dependency_graph::write_dependency_graph;

pub(super) fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    match super::begin(invocation, environment) {
        Ok((session, flags)) => {
            let result = graph(&session, &flags);
            session.conclude(result, "graph")
        }
        Err(code) => code,
    }
}

fn graph(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To specify a working directory, use the global -chdir flag.")?;
    let (source, warnings) = session.configuration()?;
    session.reporter.diagnostics(&warnings, &source.configuration.sources);
    let dependencies = resource_dependencies(&source.configuration);
    session.reporter.write(|out| write_dependency_graph(&dependencies, out));
    Ok(0)
}
