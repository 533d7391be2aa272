//! Providers that a configuration requires: which, installed how, and what people hear of it.

use crate::failure::Failure;
use crate::reporter::Voice;
use crate::session::Session;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use providers::install::{
    CliConfig, InstallError, InstallEvent, InstallMode, InstallObserver, InstallRequest,
    InstallationKind, InstallationMethod, Locks, Platform, VersionConstraints,
};
use records::Opening;
use runs::RunError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use values::address::ProviderAddress;

/// Providers, and the versions that all modules agree to.
pub(crate) type Requirements = BTreeMap<ProviderAddress, VersionConstraints>;

/// How `init` installs providers.
pub(crate) struct Options<'f> {
    pub(crate) upgrade: bool,
    /// Whether the lock file may not change.
    pub(crate) readonly: bool,
    /// The directories to install from, instead of what the CLI configuration names.
    pub(crate) directories: Vec<&'f str>,
}

/// What a configuration requires.
///
/// # Errors
/// Where a constraint cannot be understood.
pub(crate) fn requirements(configuration: &Configuration) -> Result<Requirements, Failure> {
    let mut requirements = Requirements::new();
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
    Ok(requirements)
}

/// The providers of recorded instances.
///
/// # Errors
/// Where the records cannot be read.
pub(crate) async fn recorded(session: &Session) -> Result<BTreeSet<ProviderAddress>, Failure> {
    let Some((estate, _)) = session.estate(Opening::Existing).await? else {
        return Ok(BTreeSet::new());
    };
    let reading = estate.read().await.map_err(RunError::from)?;
    let objects = reading.state.instances.values();
    let objects =
        objects.flat_map(|instance| instance.current.iter().chain(instance.deposed.values()));
    Ok(objects.map(|object| object.provider.provider.clone()).collect())
}

/// Installs what a configuration and the records require, and locks it.
///
/// # Errors
/// Where a provider is not installed, or the lock file cannot be written or may not be.
pub(crate) async fn install(
    session: &Session,
    configuration: &Configuration,
    options: &Options<'_>,
) -> Result<(), Failure> {
    let mut requirements = requirements(configuration)?;
    // What the configuration has no more is there to be destroyed yet.
    for provider in recorded(session).await? {
        requirements.entry(provider).or_default();
    }
    let locks = session.directory.locks()?;
    let mut config = session.cli_config()?;
    if !options.directories.is_empty() {
        config.installation = Some(from_directories(session, &options.directories));
    }
    let (directory, platform) = (session.directory.package_directory(), Platform::current());
    let network = Some(session.network()?);
    let installer = session.directory.installer(config, directory, platform, network);
    let mode = match options.upgrade {
        true => InstallMode::Upgrade,
        false => InstallMode::Locked,
    };
    let request = InstallRequest { requirements: &requirements, locks: &locks, mode };
    let mut told = Told { session, third_party: false, incomplete: BTreeSet::new() };
    let new = installer.install(request, &mut told).await;
    if told.third_party {
        say(session, SIGNING);
    }
    let new = new.map_err(|errors| Failure::Diagnostics(refused(&errors), Arc::default()))?;
    write_locks(session, &locks, &new, options.readonly, &told.incomplete)
}

const SIGNING: &str = "Partner and community providers are signed by their developers.\nIf you'd like to know more about provider signing, you can read about it here:\nhttps://developer.hashicorp.com/terraform/cli/plugins/signing";

fn from_directories(session: &Session, directories: &[&str]) -> Vec<InstallationMethod> {
    let paths = directories.iter().map(|directory| session.directory.path.join(directory));
    let kinds = paths.map(|path: PathBuf| InstallationKind::FilesystemMirror(path));
    kinds.map(|kind| InstallationMethod { kind, include: vec![], exclude: vec![] }).collect()
}

fn write_locks(
    session: &Session,
    before: &Locks,
    now: &Locks,
    readonly: bool,
    incomplete: &BTreeSet<String>,
) -> Result<(), Failure> {
    if before == now {
        return Ok(());
    }
    if readonly && !before.0.keys().eq(now.0.keys()) {
        let detail = "Changes to the required provider dependencies were detected, but the lock file is read-only. To use and record these requirements, run \"plumb init\" without the \"-lockfile=readonly\" flag.";
        return Err(Diagnostic::error("Provider dependency changes detected", detail).into());
    }
    if readonly {
        let detail = "Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file. To record these selections, run \"plumb init\" without the \"-lockfile=readonly\" flag.";
        session.reporter.report([Diagnostic::warning("Provider lock file not updated", detail)]);
        return Ok(());
    }
    session.directory.write_locks(now)?;
    let (code, text) = match before.0.is_empty() {
        true => (
            "lock_info",
            "\nPlumbline has created a lock file .terraform.lock.hcl to record the provider\nselections it made above. Include this file in your version control repository\nso that the same selections are made by default when you run \"plumb init\" in\nthe future.",
        ),
        false => (
            "dependencies_lock_changes_info",
            "\nPlumbline has made some changes to the provider dependency selections recorded\nin the .terraform.lock.hcl file. Review those changes and commit them to your\nversion control system if they represent changes you intended to make.",
        ),
    };
    match &session.reporter.voice {
        Voice::Json(stream) => stream.initialization(code, text),
        Voice::Human(_) => session.reporter.print(&format!("{text}\n")),
    }
    if !incomplete.is_empty() {
        let list: String = incomplete.iter().map(|name| format!("\n  - {name}")).collect();
        let platform = Platform::current();
        session.reporter.report([Diagnostic::warning(
            "Incomplete lock file information for providers",
            format!(
                "Due to your customized provider installation methods, checksums for the lock file had to be calculated locally for the following providers:{list}\n\nThe current .terraform.lock.hcl file only includes checksums for {platform}, so that these providers cannot be installed on another platform.\n\nTo calculate additional checksums for another platform, run:\n  plumb providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)"
            ),
        )]);
    }
    Ok(())
}

/// Tells of an installation's steps.
struct Told<'a> {
    session: &'a Session,
    third_party: bool,
    incomplete: BTreeSet<String>,
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
            InstallEvent::Running { provider } => {
                format!("- {} runs already, and is not installed", provider.for_display())
            }
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
            InstallEvent::FromCache { provider, version } => format!(
                "- Using {} v{version} from the shared cache directory",
                provider.for_display()
            ),
            InstallEvent::Installing { provider, version } => {
                format!("- Installing {} v{version}...", provider.for_display())
            }
            InstallEvent::Installed { provider, version, authentication } => {
                let key = authentication.third_party_key();
                self.third_party |= key.is_some();
                let key = key.map(|key| format!(", key ID {key}")).unwrap_or_default();
                format!("- Installed {} v{version} ({authentication}{key})", provider.for_display())
            }
            InstallEvent::Warned { provider, warnings } => {
                let lines: Vec<String> = warnings.iter().map(|line| format!("- {line}")).collect();
                self.session.reporter.report([Diagnostic::warning(
                    "Additional provider information from registry",
                    format!(
                        "The remote registry returned warnings for {provider}:\n{}",
                        lines.join("\n")
                    ),
                )]);
                return;
            }
            InstallEvent::LockedForThisPlatform { provider } => {
                self.incomplete.insert(provider.for_display());
                return;
            }
            _ => return,
        };
        say(self.session, &text);
    }
}

pub(crate) fn say(session: &Session, text: &str) {
    match &session.reporter.voice {
        Voice::Json(stream) => stream.log(text),
        Voice::Human(_) => session.reporter.print(&format!("{text}\n")),
    }
}

/// What was not installed.
pub(crate) fn refused(errors: &[InstallError]) -> Diagnostics {
    let diagnostics = errors.iter().map(|error| {
        // What ends with a command stays as it can be copied.
        let text = error.to_string();
        let detail = match text.lines().last().is_some_and(|last| last.starts_with(' ')) {
            true => text,
            false => format!("{}.", text.trim_end_matches('.')),
        };
        Diagnostic::error(error.summary(), detail)
    });
    diagnostics.collect()
}

/// The ways that `providers lock` installs by, whatever the CLI configuration says.
pub(crate) fn only(config: CliConfig, kind: InstallationKind) -> CliConfig {
    let method = InstallationMethod { kind, include: vec![], exclude: vec![] };
    CliConfig {
        installation: Some(vec![method]),
        dev_overrides: BTreeMap::new(),
        running: BTreeMap::new(),
        plugin_cache_dir: None,
        ..config
    }
}
