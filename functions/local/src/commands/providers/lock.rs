//! `plumb providers lock`: checksums for other platforms, from the origin registries.

use super::{configuration, platforms, throwaway_directory};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::provider_installation::{self, Requirements};
use crate::session::Session;
use language::diagnostics::{Diagnostic, Diagnostics};
use providers::install::{
    InstallError, InstallEvent, InstallMode, InstallRequest, InstallationKind, Locks, Platform,
    ProviderLock,
};
use values::address::ProviderAddress;

pub(in crate::commands) async fn lock(
    invocation: &Invocation,
    environment: ProcessEnvironment,
) -> u8 {
    crate::commands::carry_out(invocation, environment, update).await
}

async fn update(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let kind = kind(session, flags)?;
    let platforms = platforms(flags)?;
    let requirements = requirements(session, flags)?;
    let before = session.directory.locks()?;
    let mut now = before.clone();
    let mut all = Vec::new();
    for platform in &platforms {
        all.push(locked_for(session, flags, &kind, platform, &requirements, &before).await?);
    }
    for (platform, locked) in platforms.iter().zip(&all) {
        for (provider, lock) in &locked.0 {
            let change = merge(&mut now, provider, lock)?;
            session.reporter.print(&format!(
                "- Obtained {} checksums for {platform}; {}\n",
                provider.for_display(),
                change.sentence(before.0.contains_key(provider))
            ));
        }
    }
    if now == before {
        session.reporter.print(
            "\nSuccess! Plumbline has validated the lock file and found no need for changes.\n",
        );
        return Ok(0);
    }
    session.directory.write_locks(&now)?;
    session.reporter.print(
        "\nSuccess! Plumbline has updated the lock file.\n\nReview the changes in .terraform.lock.hcl and then commit to your\nversion control system to retain the new checksums.\n\n",
    );
    Ok(0)
}

/// Where to ask, instead of where `init` would.
fn kind(session: &Session, flags: &Flags) -> Result<InstallationKind, Failure> {
    match (flags.value("fs-mirror"), flags.value("net-mirror")) {
        (Some(_), Some(_)) => Err(Diagnostic::error(
            "Invalid installation method options",
            "The -fs-mirror and -net-mirror command line options are mutually-exclusive.",
        )
        .into()),
        (Some(path), None) => {
            Ok(InstallationKind::FilesystemMirror(session.directory.path.join(path)))
        }
        (None, Some(url)) if url.starts_with("https://") => {
            Ok(InstallationKind::NetworkMirror(url.into()))
        }
        (None, Some(_)) => Err(Diagnostic::error(
            "Invalid network mirror URL",
            "The -net-mirror option requires a valid https: URL as the mirror base URL.",
        )
        .into()),
        (None, None) => Ok(InstallationKind::Direct),
    }
}

/// What to lock: what the configuration requires, or those of it that were named.
fn requirements(session: &Session, flags: &Flags) -> Result<Requirements, Failure> {
    // As Terraform has it: an empty directory needs no provider.
    let mut requirements = match session.directory.has_configuration() {
        true => provider_installation::requirements(&configuration(session)?.configuration)?,
        false => Requirements::new(),
    };
    let mut errors = Diagnostics::new();
    let mut named = Vec::new();
    for text in &flags.positional {
        let invalid = |detail: String| Diagnostic::error("Invalid provider argument", detail);
        match text.parse::<ProviderAddress>() {
            Err(error) => errors.push(invalid(format!("{error}."))),
            Ok(provider) if !requirements.contains_key(&provider) => {
                errors.push(invalid(format!(
                    "The provider {provider} is not required by the current configuration."
                )));
            }
            Ok(provider) => named.push(provider),
        }
    }
    if errors.has_errors() {
        return Err(Failure::Diagnostics(errors, std::sync::Arc::default()));
    }
    requirements.retain(|provider, _| {
        !provider.is_builtin() && (named.is_empty() || named.contains(provider))
    });
    Ok(requirements)
}

async fn locked_for(
    session: &Session,
    flags: &Flags,
    kind: &InstallationKind,
    platform: &Platform,
    requirements: &Requirements,
    locks: &Locks,
) -> Result<Locks, Failure> {
    let packages = throwaway_directory()?;
    let config = session.cli_config()?;
    let cache = config.plugin_cache_dir.clone();
    let mut config = provider_installation::only(config, kind.clone());
    config.plugin_cache_dir = cache.filter(|_| flags.switch("enable-plugin-cache", false));
    let installer = session.directory.installer(
        config,
        packages.path().to_owned(),
        platform.clone(),
        Some(session.network()?),
    );
    let request = InstallRequest { requirements, locks, mode: InstallMode::RecordChecksums };
    let mut told = |event: InstallEvent<'_>| match event {
        InstallEvent::Installing { provider, version } => session
            .reporter
            .print(&format!("- Fetching {} {version} for {platform}...\n", provider.for_display())),
        InstallEvent::Installed { provider, version, authentication } => {
            let key = authentication.third_party_key();
            let key = key.map(|key| format!(", key ID {key}")).unwrap_or_default();
            session.reporter.print(&format!(
                "- Retrieved {} {version} for {platform} ({authentication}{key})\n",
                provider.for_display()
            ));
        }
        _ => {}
    };
    let locked = installer.install(request, &mut told).await;
    locked.map_err(|errors| not_retrieved(platform, &errors))
}

fn not_retrieved(platform: &Platform, errors: &[InstallError]) -> Failure {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    Failure::error(
        "Could not retrieve providers for locking",
        format!(
            "Failed to fetch the requested providers for {platform} in order to calculate their checksums: some providers could not be installed:\n\n{}",
            errors.join("\n\n")
        ),
    )
}

/// What a platform has brought to the lock file.
#[derive(Clone, Copy)]
enum Change {
    Nothing,
    Checksums,
}

impl Change {
    fn sentence(self, known: bool) -> &'static str {
        match (self, known) {
            (_, false) => {
                "This was a new provider and the checksums for this platform are now tracked in the lock file"
            }
            (Change::Checksums, true) => {
                "Additional checksums for this platform are now tracked in the lock file"
            }
            (Change::Nothing, true) => {
                "All checksums for this platform were already tracked in the lock file"
            }
        }
    }
}

fn merge(
    locks: &mut Locks,
    provider: &ProviderAddress,
    lock: &ProviderLock,
) -> Result<Change, Failure> {
    let Some(known) = locks.0.get_mut(provider) else {
        locks.0.insert(provider.clone(), lock.clone());
        return Ok(Change::Checksums);
    };
    if known.version != lock.version {
        return Err(Failure::error(
            "Inconsistent provider versions",
            format!(
                "The version constraint for {provider} selected inconsistent versions for different platforms: {} and {}.\n\nThe upstream registry may have changed its available versions meanwhile. If so, running the command again may succeed:\n  plumb providers lock",
                known.version, lock.version
            ),
        ));
    }
    known.constraints = lock.constraints.clone();
    let before = known.hashes.len();
    known.hashes.extend(lock.hashes.iter().cloned());
    Ok(match known.hashes.len() == before {
        true => Change::Nothing,
        false => Change::Checksums,
    })
}
