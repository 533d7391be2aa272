//! `plumb metadata functions -json`: what editors know of the functions.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use views::Escape;
use views::function_signatures::function_signatures;

pub(super) fn functions(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    match super::begin(invocation, environment) {
        Ok((session, flags)) => {
            let result = write(&session, &flags);
            session.conclude(result, "metadata functions")
        }
        Err(code) => code,
    }
}

fn write(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    if !flags.switch("json", false) {
        let detail =
            "The signatures of functions are for programs: this command needs the -json option.";
        return Err(UsageError::other("The -json option is missing", detail).into());
    }
    let text = function_signatures().to_text(Escape::Html);
    session.reporter.print(&(text + "\n"));
    Ok(0)
}
