//! `plumb migrate`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flag, Flags};
use crate::invocation::Invocation;
use crate::session::Session;
use engine::existing_state::ConfiguredBackend;
use records::Opening;
use runs::migrate::Migration;

/// Where Terraform keeps a state that its configuration says nothing of.
const DEFAULT: &str = "terraform.tfstate";

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    match super::begin(invocation, environment, &[Flag::Switch("no-color"), Flag::Value("state")]) {
        Ok((session, flags)) => {
            let result = migrate(&session, &flags).await;
            session.conclude(result, "migrate")
        }
        Err(code) => code,
    }
}

async fn migrate(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The state file is named with -state.")?;
    let name = match flags.value("state") {
        Some(file) => file.to_owned(),
        None => configured(session)?,
    };
    let file = std::fs::read(session.directory.path.join(&name)).map_err(|error| {
        Failure::error(
            "The state cannot be taken over",
            format!(
                "{name}: {error}. Name the file that Terraform keeps its state in with -state."
            ),
        )
    })?;
    session.list_workspace().await?;
    let opened = session.estate(Opening::Create).await?;
    let (to, terms) = opened
        .ok_or_else(|| Failure::error("No store to record in", "It was removed meanwhile."))?;
    let migration = Migration { file: &file, name: &name, to: &to, terms: terms.as_ref() };
    let taken = migration.run(&session.principal()).await?;
    session.reporter.report(taken.warnings);
    let place = format!("{} (estate {})", to.location(), to.name());
    session.reporter.say(&match taken.records {
        None => format!("The state in {name} was taken over before, and is in {place}.\n"),
        Some(count) => format!(
            "Took over {name}: {count} records, verified, in {place}. See with \"plumb plan\" that nothing changes; from \
             then on Terraform must not be used on this state any more, since neither sees what the other does. {name} \
             is as it was.\n"
        ),
    });
    Ok(0)
}

/// The state file that the configuration names.
fn configured(session: &Session) -> Result<String, Failure> {
    if !session.directory.has_configuration() {
        return Ok(session.workspace.state_file(DEFAULT));
    }
    let (source, _) = session.configuration()?;
    let elsewhere = |place: &str| {
        Failure::error(
            "The state is not in a file",
            format!(
                "The configuration keeps it in {place}. Fetch it with \"terraform state pull > pulled.tfstate\", and take \
                 it over with \"plumb migrate -state=pulled.tfstate\"."
            ),
        )
    };
    match source.backend {
        ConfiguredBackend::None => Ok(session.workspace.state_file(DEFAULT)),
        ConfiguredBackend::Local { path } => Ok(session.workspace.state_file(&path)),
        ConfiguredBackend::Remote { ty } => Err(elsewhere(&format!("the backend {ty:?}"))),
        ConfiguredBackend::Cloud => Err(elsewhere("HCP Terraform")),
    }
}
