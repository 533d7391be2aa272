//! `plumb state list`, `plumb state show` and `plumb state pull`

use super::{record_edit, show};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;
use engine::editing::{identifier, select};
use language::diagnostics::Diagnostic;
use records::Opening;
use runs::{RunError, migrate};
use values::address::ResourceInstance;
use views::product::TERRAFORM_VERSION;
use views::state_text;

pub(super) async fn list(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, addresses).await
}

async fn addresses(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let Some((estate, _)) = session.estate(Opening::Existing).await? else {
        return Err(record_edit::no_records());
    };
    let reading = estate.read().await.map_err(RunError::from)?;
    reading.header.ok_or_else(record_edit::no_records)?;
    let state = reading.state;
    let found: Vec<ResourceInstance> = match flags.positional.as_slice() {
        [] => state.instances.keys().cloned().collect(),
        given => {
            let mut found = Vec::new();
            for text in given {
                let target = record_edit::target(text)?;
                found.extend(select(&state, &target).map_err(RunError::from)?);
            }
            found
        }
    };
    let wanted = flags.value("id");
    let has_id = |address: &&ResourceInstance| {
        let instance = state.instances.get(*address);
        let id = instance.and_then(|i| i.current.as_ref()).and_then(identifier);
        wanted.is_none_or(|wanted| id.as_deref() == Some(wanted))
    };
    let found: Vec<_> = found.iter().filter(has_id).collect();
    session.reporter.write(|out| found.iter().try_for_each(|a| writeln!(out, "{a}")));
    Ok(0)
}

pub(super) async fn show(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, instance).await
}

async fn instance(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [text] = flags.positional.as_slice() else {
        return Err(Diagnostic::error(
            "Exactly one argument expected",
            "It is the address of a resource instance, as \"plumb state list\" prints it.",
        )
        .into());
    };
    let address: ResourceInstance = text.parse().map_err(|error| {
        Diagnostic::error("Error parsing instance address", format!("{text}: {error}."))
    })?;
    let Some((state, diagnostics)) = show::read(session).await? else {
        return Err(record_edit::no_records());
    };
    session.reporter.report(diagnostics);
    let Some(instance) =
        state.instances.iter().find(|i| i.address == address && i.current.is_some())
    else {
        return Err(Diagnostic::error(
            "No instance found for the given address!",
            "This command requires that the address references one specific instance. To view the available instances, use \"plumb state list\". Please modify the address to reference a specific instance.",
        )
        .into());
    };
    let colour = session.reporter.text.colour;
    session.reporter.write(|out| state_text::write_instance(instance, colour, out));
    Ok(0)
}

pub(super) async fn pull(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, file).await
}

/// The records as a state file of Terraform.
async fn file(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The state is printed.")?;
    let Some((estate, _)) = session.estate(Opening::Existing).await? else {
        return Err(record_edit::no_records());
    };
    let text = migrate::state_as_file(&estate, TERRAFORM_VERSION).await?;
    session.reporter.write(|out| out.write_all(&text));
    Ok(0)
}
