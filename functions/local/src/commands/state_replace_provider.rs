//! `plumb state replace-provider`

use super::record_edit::{self, Editable};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::prompt;
use crate::session::Session;
use engine::editing::replace_provider;
use runs::RunError;
use values::address::ProviderAddress;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, replace).await
}

async fn replace(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [from, to] = flags.positional.as_slice() else {
        let detail = "They are the sources of two providers: plumb state replace-provider FROM TO.";
        return Err(UsageError::other("Exactly two arguments expected.", detail).into());
    };
    let (from, to) = (provider("from", from)?, provider("to", to)?);
    let editable = Editable::open(session).await?;
    let reading = editable.estate.read().await.map_err(RunError::from)?;
    let (resources, _) = replace_provider(&reading.state, &from, &to);
    if resources.is_empty() {
        session.reporter.print("No matching resources found.\n");
        return Ok(0);
    }
    let listed: String = resources.iter().map(|resource| format!("  {resource}\n")).collect();
    session.reporter.print(&format!(
        "Plumbline will perform the following actions:\n\n  ~ Updating provider:\n    - {from}\n    + {to}\n\nChanging {} resources:\n\n{listed}",
        resources.len(),
    ));
    if !flags.switch("auto-approve", false) && !approved(session).await? {
        session.reporter.print("Cancelled replacing providers.\n");
        return Ok(0);
    }
    editable.back_up(session, flags).await?;
    let editor = editable.editor(session);
    let edited = editor.edit(|reading| Ok(replace_provider(&reading.state, &from, &to))).await?;
    let (replaced, complete) = record_edit::report(session, edited);
    if !complete {
        return Ok(1);
    }
    let count = replaced.len();
    session.reporter.print(&format!("\nSuccessfully replaced provider for {count} resources.\n"));
    Ok(0)
}

async fn approved(session: &Session) -> Result<bool, Failure> {
    let (title, description) =
        ("\nDo you want to make these changes?", "Only 'yes' will be accepted to continue.");
    let answer = prompt::ask(&session.stop, title.into(), description.into()).await;
    let answer = answer.map_err(|error| {
        let detail = format!("No answer came: {error}. Nothing was changed.");
        Failure::error("Error asking for approval", detail)
    })?;
    Ok(answer == "yes")
}

fn provider(which: &str, source: &str) -> Result<ProviderAddress, Failure> {
    ProviderAddress::parse_source(source).map_err(|error| {
        Failure::error(format!("Invalid {which:?} provider {source:?}"), format!("{error}."))
    })
}
