//! `plumb taint` and `plumb untaint`

use super::record_edit::{self, Editable};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use engine::editing::{EditError, taint, untaint};
use language::diagnostics::Diagnostic;
use runs::RunError;
use values::address::{ResourceInstance, ResourceMode};

/// Which of the two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Taint,
    Untaint,
}

pub(super) async fn run(
    invocation: &Invocation,
    environment: ProcessEnvironment,
    kind: Kind,
) -> u8 {
    let work = async |session: &Session, flags: &Flags| mark(session, flags, kind).await;
    super::carry_out(invocation, environment, work).await
}

async fn mark(session: &Session, flags: &Flags, kind: Kind) -> Result<u8, Failure> {
    let [text] = flags.positional.as_slice() else {
        let summary = match kind {
            Kind::Taint => "The taint command expects exactly one argument.",
            Kind::Untaint => "The untaint command expects exactly one argument.",
        };
        let detail = "It is the address of a resource instance, as \"plumb state list\" prints it.";
        return Err(UsageError::other(summary, detail).into());
    };
    let address = super::adopt::address(text)?;
    if kind == Kind::Taint && address.resource.mode != ResourceMode::Managed {
        let detail = "A data source is read again whenever it is planned: only managed resources can be replaced.";
        let summary = format!("Resource instance {address} cannot be tainted");
        return Err(Failure::error(summary, detail));
    }
    let allow_missing = flags.switch("allow-missing", false);
    let editable = match Editable::find(session).await? {
        None if allow_missing => return Ok(missing(session, &address)),
        None => return Err(RunError::from(EditError::NoInstances).into()),
        Some(editable) => editable,
    };
    editable.back_up(session, flags).await?;
    let decide = match kind {
        Kind::Taint => taint,
        Kind::Untaint => untaint,
    };
    let editor = editable.editor(session);
    let edited = editor.edit(|reading| Ok(((), decide(&reading.state, &address)?))).await;
    let edited = match edited {
        Err(RunError::Edit(EditError::NoInstances | EditError::NoInstance(_))) if allow_missing => {
            return Ok(missing(session, &address));
        }
        edited => edited?,
    };
    if !record_edit::report(session, edited).1 {
        return Ok(1);
    }
    session.reporter.print(&match kind {
        Kind::Taint => format!("Resource instance {address} has been marked as tainted.\n"),
        Kind::Untaint => format!("Resource instance {address} has been successfully untainted.\n"),
    });
    Ok(0)
}

fn missing(session: &Session, address: &ResourceInstance) -> u8 {
    let detail = format!(
        "Resource instance {address} was not found, but this is not an error because -allow-missing was set."
    );
    session.reporter.report([Diagnostic::warning("No such resource instance", detail)]);
    0
}
