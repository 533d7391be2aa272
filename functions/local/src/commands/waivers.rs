//! `-accept-drift=ADDRESS[.attr]`: findings that a person accepts.

use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::session::Session;
use engine::stages::Waiver;
use language::diagnostics::Diagnostic;

const FLAG: &str = "accept-drift";

/// # Errors
/// Where a value is no address.
pub(super) fn parse(session: &Session, flags: &Flags) -> Result<Vec<Waiver>, Failure> {
    let mut waivers = Vec::new();
    for (_, text) in flags.all(&[FLAG]) {
        let waiver: Waiver = text.parse().map_err(|error| {
            Diagnostic::error(
                "Invalid drift to accept",
                format!("{error}. Give -accept-drift the address of a resource instance, alone or followed by the attribute as the verdict names it."),
            )
        })?;
        waivers.push(waiver.by(session.principal()));
    }
    Ok(waivers)
}

/// For what works without a saved plan, whose findings they could be about.
///
/// # Errors
/// Where some are given.
pub(super) fn need_a_plan(flags: &Flags) -> Result<(), UsageError> {
    match flags.value(FLAG) {
        None => Ok(()),
        Some(_) => Err(UsageError::other(
            "Drift accepted without a saved plan",
            "The -accept-drift option is about what changed since a plan was saved: what is planned now rests on the world as it is. Make one with \"plumb plan -out=FILE\".",
        )),
    }
}
