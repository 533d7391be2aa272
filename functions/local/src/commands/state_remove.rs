//! `plumb state rm`

use super::record_edit::{self, Editable};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use engine::Target;
use engine::editing::forget;
use runs::RunError;
use values::address::ResourceInstance;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, remove).await
}

async fn remove(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    if flags.positional.is_empty() {
        let detail = "They are modules, resources or instances: plumb state rm ADDRESS...";
        return Err(UsageError::other("At least one address is required.", detail).into());
    }
    let targets = flags.positional.iter().map(|text| record_edit::target(text));
    let targets = targets.collect::<Result<Vec<Target>, Failure>>()?;
    let editable = Editable::open(session).await?;
    let told = |instances: &[ResourceInstance], word: &str| {
        for address in instances {
            session.reporter.print(&format!("{word} {address}\n"));
        }
    };
    if flags.switch("dry-run", false) {
        let reading = editable.estate.read().await.map_err(RunError::from)?;
        match forget(&reading.state, &targets) {
            Ok((forgotten, _)) => told(&forgotten, "Would remove"),
            Err(_) => session.reporter.print("Would have removed nothing.\n"),
        }
        return Ok(0);
    }
    editable.back_up(session, flags).await?;
    let editor = editable.editor(session);
    let edited = editor.edit(|reading| forget(&reading.state, &targets)).await?;
    let (forgotten, complete) = record_edit::report(session, edited);
    if !complete {
        return Ok(1);
    }
    told(&forgotten, "Removed");
    let count = forgotten.len();
    session.reporter.print(&format!("Successfully removed {count} resource instance(s).\n"));
    Ok(0)
}
