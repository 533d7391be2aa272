//! `plumb adopt`

use super::no_configuration;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::{PARALLELISM, Session};
use crate::variables;
use engine::estate::{Adopted, Estate};
use engine::identifiers::RunId;
use records::Opening;
use runs::adopt::{self, ObjectRequest};
use values::address::{AddressError, ResourceInstance};

const USAGE: &str = "The command takes the address of a resource instance, and the identifier of an object only where a create is in doubt: plumb adopt ADDRESS [ID].";

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(&flags_first(invocation), environment, adopt).await
}

async fn adopt(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let (text, id) = match flags.positional.as_slice() {
        [address] => (address, None),
        [address, id] => (address, Some(id)),
        _ => return Err(UsageError::other("Wrong number of arguments", USAGE).into()),
    };
    let address = address(text)?;
    let (from, run) = (flags.value("from"), flags.value("run").map(RunId::from_stored));
    if [id.is_some(), from.is_some(), run.is_some()].iter().filter(|given| **given).count() > 1 {
        let detail = "An ID names an object, -from a file and -run a result that is kept: only one of them can be adopted.";
        return Err(UsageError::other("Too much to adopt", detail).into());
    }
    let principal = session.principal();
    let adopted = match (id, from) {
        (Some(id), _) => match object(session, flags, &address, id).await? {
            Some(adopted) => adopted,
            None => return Ok(1),
        },
        (None, Some(file)) => {
            let content = std::fs::read(session.directory.path.join(file)).map_err(|error| {
                Failure::error("Failed to read the file", format!("{file}: {error}."))
            })?;
            adopt::adopt_file(&estate(session).await?, &address, file, &content, &principal).await?
        }
        (None, None) => {
            adopt::adopt_stray(&estate(session).await?, &address, run.as_ref(), &principal).await?
        }
    };
    let replaced = adopted.replaced.map(|by| {
        format!(" It replaces what the run {} of {} had recorded.", by.run, by.principal)
    });
    session.reporter.say(&format!(
        "Adopted {address}.{} Noted in the journal as run {}.\n",
        replaced.unwrap_or_default(),
        adopted.run
    ));
    Ok(0)
}

/// Adopts what a provider finds; `None` after errors, which are reported.
async fn object(
    session: &Session,
    flags: &Flags,
    address: &ResourceInstance,
    id: &str,
) -> Result<Option<Adopted>, Failure> {
    if !session.directory.has_configuration() {
        return Err(no_configuration(
            "An object is found by its provider, and the configuration says how that is reached.",
        ));
    }
    let (source, mut diagnostics) = session.configuration()?;
    let sources = source.configuration.sources.clone();
    let (values, found) = variables::of_command(session, flags, &source).await?;
    diagnostics.extend(found);
    let workplace = session.workplace(PARALLELISM).await?;
    let request =
        ObjectRequest { source, variables: values, address: address.clone(), id: id.to_owned() };
    let (adopted, found) = adopt::adopt_object(&workplace, request, &session.principal()).await?;
    diagnostics.extend(found);
    session.reporter.diagnostics(&diagnostics, &sources);
    Ok(adopted)
}

/// Messages name the address first, as people do, and flags with their values behind it.
pub(super) fn flags_first(invocation: &Invocation) -> Invocation {
    let is_flag = |argument: &&String| argument.starts_with('-') && argument.contains('=');
    let (flags, rest): (Vec<_>, Vec<_>) = invocation.arguments.iter().partition(is_flag);
    Invocation {
        command: invocation.command.clone(),
        arguments: flags.into_iter().chain(rest).cloned().collect(),
        directory: invocation.directory.clone(),
        estate: invocation.estate.clone(),
        ..Invocation::default()
    }
}

/// The address of one instance.
///
/// # Errors
/// Where the text is none.
pub(super) fn address(text: &str) -> Result<ResourceInstance, Failure> {
    text.parse().map_err(|error: AddressError| {
        Failure::error("Error parsing instance address", format!("{text}: {}.", error.reason))
    })
}

/// The estate, whose records exist.
///
/// # Errors
/// Where it has none, or the store cannot be opened.
pub(super) async fn estate(session: &Session) -> Result<Estate, Failure> {
    match session.estate(Opening::Existing).await? {
        Some((estate, _)) => Ok(estate),
        None => Err(Failure::error(
            "No records",
            "This estate has no records yet. Run this command in a directory where \"plumb apply\" has been run.",
        )),
    }
}
