//! `plumb providers mirror`: the packages that a configuration needs, from the origin registries into a directory.

use super::{argument, configuration, platforms};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::provider_installation::{self, Requirements};
use crate::session::Session;
use language::diagnostics::{Diagnostic, Diagnostics};
use providers::install::{
    Authentication, InstallationKind, Installer, Locks, Platform, Version, VersionConstraints,
    write_mirror_indexes,
};
use std::path::Path;
use std::sync::Arc;
use values::address::ProviderAddress;

pub(in crate::commands) async fn mirror(
    invocation: &Invocation,
    environment: ProcessEnvironment,
) -> u8 {
    crate::commands::carry_out(invocation, environment, fill).await
}

async fn fill(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let directory = argument(
        flags,
        "No output directory specified",
        "The providers mirror command requires an output directory as a command-line argument.",
    )?;
    let directory = session.directory.path.join(directory);
    let platforms = platforms(flags)?;
    let requirements = match session.directory.has_configuration() {
        true => provider_installation::requirements(&configuration(session)?.configuration)?,
        false => Requirements::new(),
    };
    let locks = match flags.switch("lock-file", true) {
        true => session.directory.locks()?,
        false => Locks::default(),
    };
    let config = provider_installation::only(session.cli_config()?, InstallationKind::Direct);
    let network = session.network()?;
    let installers: Vec<(Platform, Installer)> = platforms
        .into_iter()
        .map(|platform| {
            let (config, network) = (config.clone(), Some(network.clone()));
            let installer =
                session.directory.installer(config, directory.clone(), platform.clone(), network);
            (platform, installer)
        })
        .collect();
    std::fs::create_dir_all(&directory).map_err(|error| {
        let detail = format!("{} could not be made: {error}.", directory.display());
        Failure::error("Failed to make the output directory", detail)
    })?;
    let mut errors = Diagnostics::new();
    for (provider, constraints) in &requirements {
        if provider.is_builtin() {
            session.reporter.print(&format!(
                "- Skipping {} because it is built in to Plumbline\n",
                provider.for_display()
            ));
            continue;
        }
        session.reporter.print(&format!("- Mirroring {}...\n", provider.for_display()));
        let mirrored =
            mirror_one(session, &installers, &locks, &directory, provider, constraints).await;
        if let Err(error) = mirrored {
            errors.push(error);
        }
    }
    if let Err((path, error)) = write_mirror_indexes(&directory).await {
        errors.push(Diagnostic::error(
            "Failed to update indexes",
            format!(
                "The JSON indexes of the mirror are not complete, because of {}: {error}. Mend or remove it, and run this command again.",
                path.display()
            ),
        ));
    }
    match errors.has_errors() {
        true => Err(Failure::Diagnostics(errors, Arc::default())),
        false => Ok(0),
    }
}

async fn mirror_one(
    session: &Session,
    installers: &[(Platform, Installer)],
    locks: &Locks,
    directory: &Path,
    provider: &ProviderAddress,
    constraints: &VersionConstraints,
) -> Result<(), Diagnostic> {
    let Some((_, any)) = installers.first() else { return Ok(()) };
    let version = version(any, locks, provider, constraints).await?;
    let why = match (locks.0.contains_key(provider), constraints.is_empty()) {
        (true, _) => "to match dependency lock file".to_owned(),
        (false, true) => "with no constraints".to_owned(),
        (false, false) => format!("to meet constraints {constraints}"),
    };
    session.reporter.print(&format!("  - Selected v{version} {why}\n"));
    for (platform, installer) in installers {
        session.reporter.print(&format!("  - Downloading package for {platform}...\n"));
        let mirrored = installer.mirror_package(directory, provider, &version).await;
        let authentication: Authentication = mirrored.map_err(|error| {
            Diagnostic::error(
                "Provider release not available",
                format!("Failed to download {provider} v{version} for {platform}: {error}"),
            )
        })?;
        session.reporter.print(&format!("  - Package authenticated: {authentication}\n"));
    }
    Ok(())
}

async fn version(
    installer: &Installer,
    locks: &Locks,
    provider: &ProviderAddress,
    constraints: &VersionConstraints,
) -> Result<Version, Diagnostic> {
    if locks.0.is_empty() {
        return installer.newest(provider, constraints).await.map_err(|error| {
            Diagnostic::error(
                "Provider not available",
                format!("Failed to download {provider} from its origin registry: {error}"),
            )
        });
    }
    match locks.0.get(provider) {
        Some(lock) if constraints.allow(&lock.version) => Ok(lock.version.clone()),
        Some(lock) => Err(Diagnostic::error(
            "Inconsistent dependency lock file",
            format!(
                "The locked version selection {} of {provider} doesn't match the version constraints \"{constraints}\".\n\nTo update the locked dependency selections to match a changed configuration, run:\n  plumb init -upgrade",
                lock.version
            ),
        )),
        None => Err(Diagnostic::error(
            "Inconsistent dependency lock file",
            format!(
                "The provider {provider} is required by this configuration but no version is selected.\n\nTo lock it, run:\n  plumb providers lock"
            ),
        )),
    }
}
