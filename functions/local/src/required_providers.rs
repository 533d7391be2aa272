//! Whether the providers that a configuration needs are locked and installed.

use crate::failure::Failure;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use providers::install::ProviderPackages;

/// Before a plan: every provider is locked to a version that will do, and its package is there.
///
/// # Errors
/// Naming all that are not, and `plumb init`.
pub(crate) fn check(
    configuration: &Configuration,
    packages: &ProviderPackages,
) -> Result<(), Failure> {
    let (mut unlocked, mut absent) = (String::new(), String::new());
    for (provider, wanted) in configuration.provider_requirements() {
        if provider.is_builtin() || packages.is_under_development(&provider) {
            continue;
        }
        let Some(lock) = packages.locks.0.get(&provider) else {
            unlocked.push_str(&format!(
                "\n  - provider {provider}: required by this configuration but no version is selected"
            ));
            continue;
        };
        let version = lock.version.to_string().parse().ok();
        let refused = wanted.iter().find(|requirement| {
            version.as_ref().is_some_and(|version| !requirement.constraints.matches(version))
        });
        if let Some(requirement) = refused {
            unlocked.push_str(&format!(
                "\n  - provider {provider}: locked version selection {} doesn't match the updated version constraints \"{}\"",
                lock.version, requirement.text
            ));
        } else if !packages.is_present(&provider) {
            absent.push_str(&format!(
                "\n  - {provider}: there is no package for {provider} {} cached in {}",
                lock.version,
                packages.directory.display()
            ));
        }
    }
    if !unlocked.is_empty() {
        let how = match packages.locks.0.is_empty() {
            true => {
                "To make the initial dependency selections that will initialize the dependency lock file, run:\n  plumb init"
            }
            false => {
                "To update the locked dependency selections to match a changed configuration, run:\n  plumb init -upgrade"
            }
        };
        return Err(Failure::error(
            "Inconsistent dependency lock file",
            format!(
                "The following dependency selections recorded in the lock file are inconsistent with the current configuration:{unlocked}\n\n{how}"
            ),
        ));
    }
    match absent.is_empty() {
        true => Ok(()),
        false => Err(Failure::error(
            "Required plugins are not installed",
            format!(
                "The installed provider plugins are not consistent with the packages selected in the dependency lock file:{absent}\n\nTo install the plugins required for this configuration, run:\n  plumb init"
            ),
        )),
    }
}

/// That providers under development stand in for released ones.
pub(crate) fn development_overrides(packages: &ProviderPackages) -> Option<Diagnostic> {
    if packages.dev_overrides.is_empty() {
        return None;
    }
    let list = packages.dev_overrides.iter();
    let list: String = list
        .map(|(provider, directory)| {
            format!("\n - {} in {}", provider.for_display(), directory.display())
        })
        .collect();
    Some(Diagnostic::warning(
        "Provider development overrides are in effect",
        format!(
            "The following provider development overrides are set in the CLI configuration:{list}\n\nThe behavior may therefore not match any released version of the provider and applying changes may cause the state to become incompatible with published releases."
        ),
    ))
}

/// Before a validation, which needs schemas alone: what is not installed.
pub(crate) fn missing(configuration: &Configuration, packages: &ProviderPackages) -> Diagnostics {
    let requirements = configuration.provider_requirements();
    let missing = requirements.keys().filter(|provider| !packages.is_present(provider));
    missing
        .map(|provider| {
            Diagnostic::error(
                "Missing required provider",
                format!(
                    "This configuration requires provider {provider}, but that provider isn't available. You may be able to install it automatically by running:\n  plumb init"
                ),
            )
        })
        .collect()
}
