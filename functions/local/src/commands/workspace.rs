//! `plumb workspace list` and `plumb workspace show`: there is one workspace.

use crate::environment::ProcessEnvironment;
use crate::invocation::Invocation;
use crate::session::WORKSPACE;

pub(super) fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    match super::begin(invocation, environment, &[]) {
        Ok((session, _)) => {
            session.reporter.print(&match invocation.command.last().map(String::as_str) {
                Some("list") => format!("* {WORKSPACE}\n\n"),
                _ => format!("{WORKSPACE}\n"),
            });
            0
        }
        Err(code) => code,
    }
}
