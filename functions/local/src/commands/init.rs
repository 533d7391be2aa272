//! `plumb init`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flag, Flags};
use crate::former_store;
use crate::invocation::Invocation;
use crate::reporter::Voice;
use crate::session::Session;
use engine::existing_state::{
    ConfiguredBackend, ExistingStateError, NewEstate, check_existing_state,
};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::{Configuration, ModuleManifest};
use providers::install::{
    InstallError, InstallEvent, InstallObserver, InstallRequest, Locks, VersionConstraints,
};
use records::Opening;
use runs::RunError;
use runs::source::{self, Modules, RootFolder, Source};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ProviderAddress;

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
    Flag::Ignored("lock"),
    Flag::IgnoredValue("lock-timeout"),
    Flag::Switch("compact-warnings"),
    Flag::Unsupported("from-module"),
    Flag::Unsupported("migrate-state"),
    Flag::Unsupported("plugin-dir"),
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
    if !session.directory.has_configuration() {
        step(
            session,
            "output_init_empty_message",
            "Plumbline initialized in an empty directory!\n\nThe directory has no Terraform configuration files. You may begin working\nwith Plumbline immediately by creating Terraform configuration files.",
        );
        return Ok(0);
    }
    step(session, "initializing_backend_message", "Initializing the backend...");
    let (source, diagnostics) = source::from_directory(&*session.directory.files, Modules::All);
    let sources = source.configuration.sources.clone();
    if diagnostics.has_errors() {
        if matches!(session.reporter.voice, Voice::Human(_)) {
            crate::reporter::to_stderr(
                "Plumbline encountered problems during initialisation, including problems\nwith the configuration, described below.\n\nThe Terraform configuration must be valid before initialization so that\nPlumbline can determine which modules and providers need to be installed.\n",
            );
        }
        return Err(Failure::Diagnostics(diagnostics, sources));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    check_backend(&source)?;
    first_contact(session, &source, flags).await?;
    install_modules(session, &source.configuration)?;
    step(session, "initializing_provider_plugin_message", "Initializing provider plugins...");
    install_providers(session, &source.configuration, flags)?;
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

/// The kinds of backend that Terraform has.
const BACKENDS: [&str; 13] = [
    "azurerm",
    "consul",
    "cos",
    "gcs",
    "http",
    "inmem",
    "kubernetes",
    "local",
    "oci",
    "oss",
    "pg",
    "remote",
    "s3",
];

/// Backends are not used; a misspelt one is a mistake all the same.
fn check_backend(source: &Source) -> Result<(), Failure> {
    let settings = &source.configuration.root.module.settings;
    match settings.backend() {
        Some(backend) if !BACKENDS.contains(&&*backend.kind) => {
            let detail = format!("There is no backend type named \"{}\".", backend.kind);
            let error = Diagnostic::error("Unsupported backend type", detail).at(backend.kind_span);
            Err(Failure::Diagnostics(error.into(), source.configuration.sources.clone()))
        }
        _ => Ok(()),
    }
}

/// Gives the estate its lineage, unless state may exist elsewhere: then `plan` has to be told.
async fn first_contact(session: &Session, source: &Source, flags: &Flags) -> Result<(), Failure> {
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
    match check_existing_state(known, &source.backend, &files, workspace, new_estate) {
        Ok(()) => {}
        Err(error @ ExistingStateError::MayExist { .. }) => {
            let what = match &source.backend {
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

fn install_modules(session: &Session, configuration: &Configuration) -> Result<(), Failure> {
    let manifest = ModuleManifest::of(configuration);
    if manifest.records().len() > 1 {
        step(session, "initializing_modules_message", "Initializing modules...");
        let before = session.directory.manifest().unwrap_or_default();
        for record in manifest.records().iter().filter(|record| !record.key.is_empty()) {
            if !before.records().contains(record) {
                let directory = record.directory.display();
                say(session, &format!("- {} in {directory}", record.key));
            }
        }
        session.directory.write_manifest(&manifest)?;
    }
    Ok(())
}

fn say(session: &Session, text: &str) {
    match &session.reporter.voice {
        Voice::Json(stream) => stream.log(text),
        Voice::Human(_) => session.reporter.print(&format!("{text}\n")),
    }
}

fn install_providers(
    session: &Session,
    configuration: &Configuration,
    flags: &Flags,
) -> Result<(), Failure> {
    let mut requirements = BTreeMap::<ProviderAddress, VersionConstraints>::new();
    for (provider, wanted) in configuration.provider_requirements() {
        let mut all = VersionConstraints::default();
        for requirement in wanted {
            let parsed: VersionConstraints = requirement.text.parse().map_err(|error| {
                let error = Diagnostic::error("Invalid version constraint", format!("{error}."));
                let at = error.at(requirement.span);
                Failure::Diagnostics(at.into(), configuration.sources.clone())
            })?;
            all = all.and(&parsed);
        }
        requirements.insert(provider, all);
    }
    let locks = session.directory.locks()?;
    let installer = session.directory.installer(session.directory.cli_config()?);
    let request = InstallRequest {
        requirements: &requirements,
        locks: &locks,
        upgrade: flags.switch("upgrade", false),
    };
    let mut observer = Told { session };
    let new = installer
        .install(request, &mut observer)
        .map_err(|errors| Failure::Diagnostics(refused(&errors), Arc::default()))?;
    write_locks(session, &locks, &new, flags.value("lockfile"))
}

fn write_locks(
    session: &Session,
    before: &Locks,
    now: &Locks,
    mode: Option<&str>,
) -> Result<(), Failure> {
    if before == now {
        return Ok(());
    }
    if mode == Some("readonly") {
        let detail = "Changes to the required provider dependencies were detected, but the lock file is read-only. To use and record these requirements, run \"plumb init\" without the \"-lockfile=readonly\" flag.";
        return Err(Diagnostic::error("Provider dependency changes detected", detail).into());
    }
    session.directory.write_locks(now)?;
    let text = match before.0.is_empty() {
        true => {
            "\nPlumbline has created a lock file .terraform.lock.hcl to record the provider\nselections it made above. Include this file in your version control repository\nso that the same selections are made by default when you run \"plumb init\" in\nthe future."
        }
        false => {
            "\nPlumbline has made some changes to the provider dependency selections recorded\nin the .terraform.lock.hcl file. Review those changes and commit them to your\nversion control system if they represent changes you intended to make."
        }
    };
    step(
        session,
        if before.0.is_empty() { "lock_info" } else { "dependencies_lock_changes_info" },
        text,
    );
    Ok(())
}

/// Tells of an installation's steps.
struct Told<'a> {
    session: &'a Session,
}

impl InstallObserver for Told<'_> {
    fn event(&mut self, event: InstallEvent<'_>) {
        let text = match event {
            InstallEvent::Builtin { provider } => {
                format!("- {} is built in to Plumbline", provider.for_display())
            }
            InstallEvent::DevOverride { provider, directory } => format!(
                "- {} is under development, and taken from {}",
                provider.for_display(),
                directory.display()
            ),
            InstallEvent::Reusing { provider } => format!(
                "- Reusing previous version of {} from the dependency lock file",
                provider.for_display()
            ),
            InstallEvent::Finding { provider, constraints } => match constraints.is_empty() {
                true => format!("- Finding latest version of {}...", provider.for_display()),
                false => format!(
                    "- Finding {} versions matching \"{constraints}\"...",
                    provider.for_display()
                ),
            },
            InstallEvent::AlreadyInstalled { provider, version } => {
                format!("- Using previously-installed {} v{version}", provider.for_display())
            }
            InstallEvent::Installing { provider, version } => {
                format!("- Installing {} v{version}...", provider.for_display())
            }
            InstallEvent::Installed { provider, version } => {
                format!("- Installed {} v{version}", provider.for_display())
            }
            _ => return,
        };
        say(self.session, &text);
    }
}

/// What was not installed.
fn refused(errors: &[InstallError]) -> Diagnostics {
    let diagnostics = errors.iter().map(|error| {
        let summary = match error {
            InstallError::NoVersion { .. }
            | InstallError::LockedOut { .. }
            | InstallError::UnsupportedWay { .. } => "Failed to query available provider packages",
            InstallError::BuiltinVersion { .. } | InstallError::UnknownBuiltin { .. } => {
                "Invalid provider requirement"
            }
            _ => "Failed to install provider",
        };
        Diagnostic::error(summary, capitalized(&format!("{error}.")))
    });
    diagnostics.collect()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}
