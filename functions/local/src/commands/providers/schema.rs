//! `plumb providers schema -json`

use super::configuration;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::provider_installation::recorded;
use crate::required_providers;
use crate::session::Session;
use language::diagnostics::{Diagnostic, Diagnostics};
use providers::{ProviderDiagnostic, ProviderSchema};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::ProviderAddress;
use views::provider_schemas::write_provider_schemas;

pub(in crate::commands) async fn schema(
    invocation: &Invocation,
    environment: ProcessEnvironment,
) -> u8 {
    crate::commands::carry_out(invocation, environment, write).await
}

async fn write(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To work in another directory, use the global -chdir flag.")?;
    if !flags.switch("json", false) {
        let detail = "Schemas are for programs: this command needs the -json option.";
        return Err(UsageError::other("The -json option is missing", detail).into());
    }
    let schemas = schemas(session).await?;
    session.reporter.write(|out| write_provider_schemas(&schemas, out));
    Ok(0)
}

async fn schemas(
    session: &Session,
) -> Result<BTreeMap<ProviderAddress, Arc<ProviderSchema>>, Failure> {
    // As Terraform has it: an empty directory needs no provider.
    if !session.directory.has_configuration() {
        return Ok(BTreeMap::new());
    }
    let source = configuration(session)?;
    let locks = session.directory.locks()?;
    let packages = session.directory.packages(session.cli_config()?, locks.clone());
    let missing = required_providers::missing(&source.configuration, &packages);
    if missing.has_errors() {
        return Err(Failure::Diagnostics(missing, Arc::default()));
    }
    let mut wanted: BTreeSet<ProviderAddress> =
        source.configuration.provider_requirements().into_keys().collect();
    wanted.extend(recorded(session).await?);
    let providers = session.providers(&locks)?;
    let (mut schemas, mut diagnostics) = (BTreeMap::new(), Diagnostics::new());
    for provider in wanted {
        match providers.schema(&provider).await {
            Ok(response) => {
                diagnostics.extend(response.diagnostics.iter().map(|said| told(&provider, said)));
                schemas.extend(response.value.map(|schema| (provider, schema)));
            }
            Err(error) => {
                diagnostics.push(Diagnostic::error(
                    "Failed to load plugin schemas",
                    format!("Error while loading schemas for plugin components: {error}."),
                ));
            }
        }
    }
    match diagnostics.has_errors() {
        true => Err(Failure::Diagnostics(diagnostics, Arc::default())),
        false => Ok(schemas),
    }
}

fn told(provider: &ProviderAddress, said: &ProviderDiagnostic) -> Diagnostic {
    let detail = format!("{}\n\nProvider {provider} said so.", said.detail);
    match said.is_error() {
        true => Diagnostic::error(said.summary.clone(), detail),
        false => Diagnostic::warning(said.summary.clone(), detail),
    }
}
