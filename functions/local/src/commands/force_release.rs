//! `plumb force-release`

use super::record_edit::Editable;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::prompt;
use crate::session::Session;
use runs::force_release;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, release).await
}

async fn release(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [name] = flags.positional.as_slice() else {
        let detail = "It is the plan or the run that messages name as busy; its beginning will do: plumb force-release PLAN.";
        return Err(UsageError::other("Expected a single argument", detail).into());
    };
    let editable = Editable::open(session).await?;
    let editor = editable.editor(session);
    let found = force_release::find(&editor, name).await?;
    if !flags.switch("force", false) {
        let title = format!(
            "Do you really want to release what the run {} of {} has claimed?",
            found.run, found.principal
        );
        let description = "Other runs will be able to change these records at once, although that run may still be at work.\nOnly 'yes' will be accepted to confirm.";
        let answer = prompt::ask(&session.stop, title, description.to_owned()).await;
        let answer = answer.map_err(|error| {
            let detail = format!("No answer came: {error}. Nothing was changed.");
            Failure::error("Error asking for confirmation", detail)
        })?;
        if answer != "yes" {
            session.reporter.print("force-release cancelled.\n");
            return Ok(1);
        }
    }
    let doubted = force_release::force_release(&editor, &found.plan).await?;
    session.reporter.print(&format!(
        "Released what the run {} had claimed: its plan {} cannot be applied any more.\n",
        found.run, found.plan
    ));
    if !doubted.is_empty() {
        let listed: String = doubted.iter().map(|address| format!("\n  - {address}")).collect();
        session.reporter.print(&format!(
            "\nIt may have created objects that no record describes:{listed}\n\nLook for each: where it exists, run \"plumb adopt ADDRESS ID\", where it does not, \"plumb dismiss ADDRESS\".\n"
        ));
    }
    Ok(0)
}
