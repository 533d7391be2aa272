//! The CLI configuration: how providers are installed, and what proves to hosts who asks.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use providers::install::{CliConfig, CliConfigSurroundings};
use providers::plugin::RunningPlugin;
use providers::services::Credentials;
use std::io;
use std::path::{Path, PathBuf};

/// Names providers that run already, in a debugger for one.
const RUNNING: &str = "TF_REATTACH_PROVIDERS";

/// Reads what Terraform reads: the file that `TF_CLI_CONFIG_FILE` names, or else `~/.terraformrc` and the files in
/// `~/.terraform.d`, where `terraform login` keeps tokens; and then the environment.
///
/// # Errors
/// Where a file cannot be read or used.
pub(crate) fn read(
    environment: &ProcessEnvironment,
    working_directory: &Path,
) -> Result<CliConfig, Failure> {
    let variable = |name: &str| environment.get(name).map(str::to_owned);
    let surroundings = CliConfigSurroundings { working_directory, variable: &variable };
    let mut config = CliConfig::default();
    for path in files(environment) {
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            // As Terraform has it: a name that leads nowhere is the same as none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&path, &error)),
        };
        let read = CliConfig::parse(&path.to_string_lossy(), &text, surroundings);
        let read = read.map_err(|error| invalid(&error))?;
        config.merge(read).map_err(|error| invalid(&format!("{}: {error}", path.display())))?;
    }
    if let Some(cache) = environment.get("TF_PLUGIN_CACHE_DIR") {
        config.plugin_cache_dir = Some(working_directory.join(cache));
    }
    let may_break = environment.get("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
    config.plugin_cache_may_break_dependency_lock_file |= may_break.is_some_and(|v| v != "0");
    if let Some(text) = environment.get(RUNNING) {
        config.running = RunningPlugin::parse(text).map_err(|error| {
            let detail = format!("The environment variable {RUNNING} cannot be used: {error}. Unset it to use installed providers.");
            Failure::error("Invalid environment variable", detail)
        })?;
    }
    config.credentials.extend(Credentials::of_environment(environment.variables()));
    Ok(config)
}

/// The files, those that count more last.
fn files(environment: &ProcessEnvironment) -> Vec<PathBuf> {
    if let Some(named) = environment.get("TF_CLI_CONFIG_FILE") {
        return vec![named.into()];
    }
    let Some(home) = environment.home() else { return Vec::new() };
    let entries = std::fs::read_dir(home.join(".terraform.d")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.ends_with(".tfrc") || name.ends_with(".tfrc.json"))
        })
        .collect();
    files.sort();
    files.push(home.join(".terraformrc"));
    files
}

fn invalid(error: &dyn std::fmt::Display) -> Failure {
    Failure::error("Invalid CLI configuration", format!("{error}."))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::error(
        "Failed to read CLI configuration",
        format!("The file {} could not be read: {error}.", path.display()),
    )
}
