//! `plumb providers` and the commands below it.

mod lock;
mod mirror;
mod schema;

pub(super) use lock::lock;
pub(super) use mirror::mirror;
pub(super) use schema::schema;

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::provider_installation::recorded;
use crate::session::Session;
use language::diagnostics::Diagnostic;
use providers::install::Platform;
use runs::source::Source;
use views::provider_tree::{provider_tree, recorded_providers};

pub(super) async fn tree(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, show).await
}

async fn show(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To work in another directory, use the global -chdir flag.")?;
    let source = configuration(session)?;
    session.reporter.print(&provider_tree(&source.configuration));
    session.reporter.print(&recorded_providers(&recorded(session).await?));
    Ok(0)
}

/// The configuration with its modules, whether or not providers are installed.
fn configuration(session: &Session) -> Result<Source, Failure> {
    if !session.directory.has_configuration() {
        let detail = format!(
            "The directory {} contains no Terraform configuration files.",
            session.directory.path.display()
        );
        return Err(super::no_configuration(&detail));
    }
    let (source, diagnostics) = session.directory.load()?;
    let sources = source.configuration.sources.clone();
    if diagnostics.has_errors() {
        return Err(Failure::Diagnostics(diagnostics, sources));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    Ok(source)
}

/// The platforms that were asked for, or the one that this program runs on.
fn platforms(flags: &Flags) -> Result<Vec<Platform>, Failure> {
    let mut platforms = Vec::new();
    for (_, text) in flags.all(&["platform"]) {
        let platform = text.parse().map_err(|error| {
            Diagnostic::error(
                "Invalid target platform",
                format!(
                    "The string {text:?} given in the -platform option is not a valid target platform: {error}."
                ),
            )
        })?;
        if !platforms.contains(&platform) {
            platforms.push(platform);
        }
    }
    if platforms.is_empty() {
        platforms.push(Platform::current());
    }
    Ok(platforms)
}

/// Packages that are thrown away after they were looked at.
fn throwaway_directory() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new().prefix("plumb-providers-").tempdir().map_err(|error| {
        Failure::error(
            "Could not create temporary directory",
            format!(
                "Failed to create a temporary directory for staging the requested provider packages: {error}."
            ),
        )
    })
}

/// The one argument that a command needs.
fn argument<'f>(flags: &'f Flags, summary: &str, detail: &str) -> Result<&'f str, UsageError> {
    match flags.positional.as_slice() {
        [argument] => Ok(argument),
        _ => Err(UsageError::other(summary, detail)),
    }
}
