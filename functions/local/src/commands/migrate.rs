//! `plumb migrate`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;
use engine::existing_state::ConfiguredBackend;
use language::module::Storage;
use records::Opening;
use runs::migrate::Migration;
use runs::terraform_backend::{BackendError, BackendSettings};

/// Where Terraform keeps a state that its configuration says nothing of.
const DEFAULT: &str = "terraform.tfstate";

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, migrate).await
}

async fn migrate(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The state file is named with -state.")?;
    let place = match flags.value("state") {
        Some(file) => Place::File(file.to_owned()),
        None => configured(session)?,
    };
    let (name, file) = read(session, place).await?;
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

/// Where Terraform keeps a state.
enum Place {
    File(String),
    Backend(BackendSettings),
}

/// What the state is called, and its content.
async fn read(session: &Session, place: Place) -> Result<(String, Vec<u8>), Failure> {
    let cannot = |detail: String| Failure::error("The state cannot be taken over", detail);
    match place {
        Place::File(name) => match std::fs::read(session.directory.path.join(&name)) {
            Ok(file) => Ok((name, file)),
            Err(error) => Err(cannot(format!(
                "{name}: {error}. Name the file that Terraform keeps its state in with -state."
            ))),
        },
        Place::Backend(settings) => {
            let workspace = session.workspace.as_str();
            let state = session.backends().read(&settings, workspace).await;
            let state = state.map_err(|error| unread(&settings.kind, &error))?;
            match state.file {
                Some(file) => Ok((state.place, file.to_vec())),
                None => Err(cannot(format!(
                    "There is no state in {}. If truly nothing exists, plan with -new-estate.",
                    state.place
                ))),
            }
        }
    }
}

/// Where the configuration says that the state is.
fn configured(session: &Session) -> Result<Place, Failure> {
    let beside = |path: &str| Ok(Place::File(session.workspace.state_file(path)));
    if !session.directory.has_configuration() {
        return beside(DEFAULT);
    }
    let (source, _) = session.configuration()?;
    match &source.backend {
        ConfiguredBackend::None => beside(DEFAULT),
        ConfiguredBackend::Local { path } => beside(path),
        ConfiguredBackend::Remote { ty } => {
            let settings = &source.configuration.root.module.settings;
            let Some(Storage::Backend(block)) = &settings.storage else {
                return Err(unread(ty, &BackendError::Unknown(ty.clone())));
            };
            let noted = session.directory.initialised_backend()?;
            let settings = BackendSettings::of_block(block, noted.as_deref());
            Ok(Place::Backend(settings.map_err(|error| unread(ty, &error))?))
        }
        ConfiguredBackend::Cloud => Err(Failure::error(
            "The state is in HCP Terraform",
            format!("It is not read from there. {FETCH}"),
        )),
    }
}

/// How a state is taken over that is not read.
const FETCH: &str = "Fetch it with \"terraform state pull > pulled.tfstate\", and take it over with \"plumb migrate -state=pulled.tfstate\".";

fn unread(backend: &str, error: &BackendError) -> Failure {
    Failure::error(
        format!("The state in the backend {backend:?} cannot be read"),
        format!("Nothing was taken over: {error}. {FETCH}"),
    )
}
