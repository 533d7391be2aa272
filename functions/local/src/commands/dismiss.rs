//! `plumb dismiss`

use super::adopt::{address, estate, flags_first};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use engine::identifiers::RunId;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(&flags_first(invocation), environment, dismiss).await
}

async fn dismiss(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [text] = flags.positional.as_slice() else {
        let detail = "The command takes the address of a resource instance: plumb dismiss ADDRESS.";
        return Err(UsageError::other("Wrong number of arguments", detail).into());
    };
    let address = address(text)?;
    let run = flags.value("run").map(RunId::from_stored);
    let estate = estate(session).await?;
    let (principal, terms) = (session.principal(), session.project()?.project.terms());
    let dismissed =
        runs::dismiss::dismiss(&estate, &address, run.as_ref(), &principal, &terms).await?;
    let what = if dismissed == 1 { "what was open" } else { "all that was open" };
    session.reporter.say(&format!(
        "Dismissed {what} about {address}. If an object exists that no record describes, nothing will find it again.\n"
    ));
    Ok(0)
}
