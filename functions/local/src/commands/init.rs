//! `plumb init`

use super::modules;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flag, Flags, UsageError};
use crate::former_store;
use crate::invocation::Invocation;
use crate::provider_installation::{self, Options};
use crate::reporter::Voice;
use crate::session::Session;
use engine::existing_state::{
    ConfiguredBackend, ExistingStateError, NewEstate, check_existing_state,
};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::{Module, Settings, read_module};
use language::source::Sources;
use records::Opening;
use runs::RunError;
use runs::source::{self, RootFolder};
use std::path::Path;
use std::sync::Arc;

const FLAGS: &[Flag] = &[
    Flag::Switch("json"),
    Flag::Switch("no-color"),
    Flag::Switch("input"),
    Flag::Switch("upgrade"),
    Flag::Switch("backend"),
    Flag::Switch("get"),
    Flag::Switch("reconfigure"),
    Flag::Switch("force-copy"),
    Flag::Switch("new-estate"),
    Flag::Value("backend-config"),
    Flag::Value("lockfile"),
    Flag::Value("plugin-dir"),
    Flag::Ignored("lock"),
    Flag::IgnoredValue("lock-timeout"),
    Flag::Switch("compact-warnings"),
    Flag::Unsupported("from-module"),
    Flag::Unsupported("migrate-state"),
    Flag::Unsupported("test-directory"),
    Flag::Unsupported("cloud"),
];

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    match super::begin(invocation, environment, FLAGS) {
        Ok((session, flags)) => {
            let result = init(&session, &flags).await;
            session.conclude(result, "init")
        }
        Err(code) => code,
    }
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
    step(session, "initializing_backend_message", "Initializing the backend...");
    let sources = Arc::new(Sources::new());
    let (root, diagnostics) = read_module(&*session.directory.files, Path::new(""), &sources);
    if diagnostics.has_errors() {
        return Err(invalid_configuration(session, diagnostics, sources));
    }
    check_backend(&root.settings, &sources)?;
    first_contact(session, &source::configured_backend(&root.settings), flags).await?;
    if flags.switch("get", true) {
        install_modules(session, root, &sources, flags).await?;
    }
    let (source, diagnostics) = session.directory.load()?;
    let sources = source.configuration.sources.clone();
    if diagnostics.has_errors() {
        return Err(invalid_configuration(session, diagnostics, sources));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    step(session, "initializing_provider_plugin_message", "Initializing provider plugins...");
    let options = Options { upgrade, readonly, directories };
    provider_installation::install(session, &source.configuration, &options).await?;
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
    if root.module_calls.is_empty() {
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
