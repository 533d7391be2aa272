//! `-verdict-exitcode`: exit codes that say why a plan is refused.

use crate::failure::Failure;
use crate::flags::Flags;
use crate::session::Session;
use engine::verdict::RejectCode;

const NAME: &str = "verdict-exitcode";

/// The exit code of a refusal: 1, or the reason's own where the flag was given.
pub(super) fn of(flags: &Flags, code: Option<RejectCode>) -> u8 {
    match code.filter(|_| flags.switch(NAME, false)) {
        None => 1,
        Some(RejectCode::Stale) => 3,
        Some(RejectCode::Drifted) => 4,
        Some(RejectCode::Unauthentic) => 5,
        Some(RejectCode::Busy) => 6,
        Some(RejectCode::InDoubt) => 7,
        // 8 is that of an apply that is to be continued.
        Some(RejectCode::Policy) => 9,
    }
}

/// Says what a command came to.
pub(super) fn conclude(
    session: &Session,
    flags: &Flags,
    result: Result<u8, Failure>,
    command: &str,
) -> u8 {
    let refused = match &result {
        Err(Failure::Refused(code, _)) => Some(*code),
        _ => None,
    };
    let code = session.conclude(result, command);
    refused.map_or(code, |refused| of(flags, Some(refused)))
}
