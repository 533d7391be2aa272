//! `plumb init`

use super::modules;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::former_store;
use crate::invocation::Invocation;
use crate::provider_installation::{self, Options};
use crate::reporter::Voice;
use crate::session::Session;
use crate::tested_modules::TestedModules;
use engine::existing_state::{
    ConfiguredBackend, ExistingStateError, NewEstate, check_existing_state,
};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::test_file::{self, DEFAULT_DIRECTORY};
use language::module::{Configuration, Module, Settings, read_module};
use language::source::Sources;
use records::Opening;
use runs::RunError;
use runs::source::{self, RootFolder};
use std::path::Path;
use std::sync::Arc;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, init).await
}

/// A step, with the code that programs know it by.
fn step(session: &Session, code: &str, text: &str) {
    match &session.reporter.voice {
        Voice::Json(stream) => stream.initialization(code, text),
        Voice::Human(_) => session.reporter.print(&format!("{text}\n")),
    }
}

async fn init(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To specify a working directory for init, use the global -chdir flag.")?;
    let upgrade = flags.switch("upgrade", false);
    let readonly = match flags.value("lockfile") {
        None => false,
        Some("readonly") => true,
        Some(other) => {
            let detail = format!("The only value of -lockfile is \"readonly\", not {other:?}.");
            return Err(UsageError::other("Invalid lockfile mode", detail).into());
        }
    };
    if upgrade && readonly {
        let detail = "The -upgrade flag conflicts with -lockfile=readonly.";
        return Err(UsageError::other("Incompatible options", detail).into());
    }
    let directories = flags.all(&["plugin-dir"]).map(|(_, directory)| directory).collect();
    if !session.directory.has_configuration() {
        step(
            session,
            "output_init_empty_message",
            "Plumbline initialized in an empty directory!\n\nThe directory has no Terraform configuration files. You may begin working\nwith Plumbline immediately by creating Terraform configuration files.",
        );
        return Ok(0);
    }
    let records = flags.switch("backend", true);
    if records {
        step(session, "initializing_backend_message", "Initializing the backend...");
    }
    let sources = Arc::new(Sources::new());
    let (root, diagnostics) = read_module(&*session.directory.files, Path::new(""), &sources);
    if diagnostics.has_errors() {
        return Err(invalid_configuration(session, diagnostics, sources));
    }
    if records {
        check_backend(&root.settings, &sources)?;
        first_contact(session, &source::configured_backend(&root.settings), flags).await?;
    }
    if flags.switch("get", true) {
        install_modules(session, root, &sources, flags).await?;
    }
    let (source, diagnostics) = session.directory.load()?;
    let sources = source.configuration.sources.clone();
    if diagnostics.has_errors() {
        return Err(invalid_configuration(session, diagnostics, sources));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    let tested = tested_modules(session, flags, &sources)?;
    step(session, "initializing_provider_plugin_message", "Initializing provider plugins...");
    let options = Options { upgrade, readonly, records, directories };
    provider_installation::install(session, &source.configuration, &tested, &options).await?;
    step(session, "output_init_success_message", "\nPlumbline has been successfully initialized!");
    if !session.environment.in_automation() {
        step(
            session,
            "output_init_success_cli_message",
            "\nYou may now begin working with Plumbline. Try running \"plumb plan\" to see\nany changes that are required for your infrastructure.\n\nIf you ever set or change modules or providers, rerun this command to reinitialize\nyour working directory. If you forget, other commands will detect it and remind\nyou to do so if necessary.",
        );
    }
    Ok(0)
}

/// The modules that tests have beside the module under test.
fn tested_modules(
    session: &Session,
    flags: &Flags,
    sources: &Arc<Sources>,
) -> Result<Vec<Arc<Configuration>>, Failure> {
    let directory = flags.value("test-directory").unwrap_or(DEFAULT_DIRECTORY);
    let (found, mut diagnostics) = test_file::load(&*session.directory.files, directory, sources);
    let mut modules = TestedModules::new(&session.directory, sources.clone());
    for file in &found {
        diagnostics.extend(modules.of_runs(file).1);
    }
    match diagnostics.has_errors() {
        true => Err(invalid_configuration(session, diagnostics, sources.clone())),
        false => {
            session.reporter.diagnostics(&diagnostics, sources);
            Ok(modules.all().cloned().collect())
        }
    }
}

fn invalid_configuration(
    session: &Session,
    diagnostics: Diagnostics,
    sources: Arc<Sources>,
) -> Failure {
    if matches!(session.reporter.voice, Voice::Human(_)) {
        crate::reporter::to_stderr(
            "Plumbline encountered problems during initialisation, including problems\nwith the configuration, described below.\n\nThe Terraform configuration must be valid before initialization so that\nPlumbline can determine which modules and providers need to be installed.\n",
        );
    }
    Failure::Diagnostics(diagnostics, sources)
}

/// Backends are not used; a misspelt one is a mistake all the same.
fn check_backend(settings: &Settings, sources: &Arc<Sources>) -> Result<(), Failure> {
    match settings.backend().and_then(|backend| backend.unknown_kind("Unsupported backend type")) {
        Some(error) => Err(Failure::Diagnostics(error.into(), sources.clone())),
        None => Ok(()),
    }
}

/// Gives the estate its lineage, unless state may exist elsewhere: then `plan` has to be told.
async fn first_contact(
    session: &Session,
    backend: &ConfiguredBackend,
    flags: &Flags,
) -> Result<(), Failure> {
    let known = match session.estate(Opening::Existing).await? {
        Some((estate, _)) => estate.read_header().await.map_err(RunError::from)?.is_some(),
        None => false,
    };
    let new_estate = match flags.switch("new-estate", false) {
        true => NewEstate::Declared,
        false => NewEstate::NotDeclared,
    };
    let files = RootFolder(&*session.directory.files);
    let workspace = session.workspace.as_str();
    match check_existing_state(known, backend, &files, workspace, new_estate) {
        Ok(()) => {}
        Err(error @ ExistingStateError::MayExist { .. }) => {
            let what = match backend {
                ConfiguredBackend::Cloud | ConfiguredBackend::Remote { .. } => {
                    "The configured backend is read, not used: Plumbline keeps records of its own"
                }
                _ => "The state beside the configuration is read, not used",
            };
            session.reporter.report([Diagnostic::warning(
                "State may exist elsewhere",
                format!("{what}. Until that is settled there is no plan: {error}."),
            )]);
            return Ok(());
        }
        Err(error) => return Err(RunError::from(error).into()),
    }
    if !known
        && new_estate == NewEstate::NotDeclared
        && let Some(objection) = former_store::objection(session, &session.project()?)
    {
        session.reporter.report([Diagnostic::warning(objection.summary, objection.detail)]);
        return Ok(());
    }
    if !known && let Some((estate, contract)) = session.estate(Opening::Create).await? {
        let (_, noticed) = runs::contract::first_contact(&estate, contract.as_ref()).await?;
        session.reporter.report(noticed);
    }
    Ok(())
}

async fn install_modules(
    session: &Session,
    root: Module,
    sources: &Arc<Sources>,
    flags: &Flags,
) -> Result<(), Failure> {
    // A manifest that cannot be read is written anew, whatever is called.
    if root.module_calls.is_empty() && session.directory.manifest().is_ok() {
        return Ok(());
    }
    let upgrade = flags.switch("upgrade", false);
    match upgrade {
        true => step(session, "upgrading_modules_message", "Upgrading modules..."),
        false => step(session, "initializing_modules_message", "Initializing modules..."),
    }
    let may_ask = flags.switch("input", session.environment.input());
    let noticed = modules::install(session, Arc::new(root), sources, upgrade, may_ask).await?;
    session.reporter.diagnostics(&noticed.installing, sources);
    Ok(())
}
