//! `plumb state mv`

use super::record_edit::{self, Editable};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use engine::editing::{Relocation, relocate};
use runs::RunError;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, relocate_objects).await
}

async fn relocate_objects(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [source, target] = flags.positional.as_slice() else {
        let detail = "They are the address of what is moved, and the address that it gets: plumb state mv SOURCE DESTINATION.";
        return Err(UsageError::other("Exactly two arguments expected.", detail).into());
    };
    let (source, target) = (record_edit::target(source)?, record_edit::target(target)?);
    let editable = Editable::open(session).await?;
    let told = |relocations: &[Relocation], word: &str| {
        for Relocation { from, to } in relocations {
            session.reporter.print(&format!("{word} \"{from}\" to \"{to}\"\n"));
        }
    };
    if flags.switch("dry-run", false) {
        let reading = editable.estate.read().await.map_err(RunError::from)?;
        let (moved, _) = relocate(&reading, &source, &target).map_err(RunError::from)?;
        told(&moved, "Would move");
        return Ok(0);
    }
    editable.back_up(session, flags).await?;
    let editor = editable.editor(session);
    let edited = editor.edit(|reading| relocate(reading, &source, &target)).await?;
    let (moved, complete) = record_edit::report(session, edited);
    if !complete {
        return Ok(1);
    }
    told(&moved, "Move");
    session.reporter.print(&format!("Successfully moved {} object(s).\n", moved.len()));
    Ok(0)
}
