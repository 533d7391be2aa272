//! `plumb import`

use super::no_configuration;
use super::record_edit::{self, Editable};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::reporter::Reporter;
use crate::session::{PARALLELISM, Session};
use crate::variables;
use engine::hooks::{Hook, HookAction, HookObject};
use language::module::Configuration;
use runs::adopt::ObjectRequest;
use std::sync::Arc;
use values::Value;
use values::address::{ModulePath, ResourceInstance, ResourceMode};

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, import).await
}

async fn import(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [text, id] = flags.positional.as_slice() else {
        let detail = "They are the address of a resource instance, and what its provider calls the object: plumb import ADDRESS ID.";
        return Err(UsageError::other("The import command expects two arguments.", detail).into());
    };
    let address = super::adopt::address(text)?;
    check_mode(&address)?;
    if !session.directory.has_configuration() {
        return Err(no_configuration(
            "An object is found by its provider, and the configuration says how that is reached: write a resource block for it first.",
        ));
    }
    let (source, mut diagnostics) = session.configuration()?;
    let sources = source.configuration.sources.clone();
    check_declared(&source.configuration, &address)?;
    let (values, found) = variables::of_command(session, flags, &source).await?;
    diagnostics.extend(found);
    if flags.value("backup").is_some()
        && let Some(recorded) = Editable::find(session).await?
    {
        recorded.back_up(session, flags).await?;
    }
    let mut workplace = session.workplace(PARALLELISM).await?;
    workplace.environment.hooks = vec![Arc::new(Importing(session.reporter.clone()))];
    let request = ObjectRequest { source, variables: values, address, id: id.clone() };
    let (imported, found) = runs::import::import(&workplace, request, session.principal()).await?;
    diagnostics.extend(found);
    session.reporter.diagnostics(&diagnostics, &sources);
    let Some(imported) = imported else { return Ok(1) };
    if !record_edit::report(session, imported).1 {
        return Ok(1);
    }
    session.reporter.print(
        "\nImport successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour records and will henceforth be managed by Plumbline.\n\n",
    );
    Ok(0)
}

fn check_mode(address: &ResourceInstance) -> Result<(), Failure> {
    let what = match address.resource.mode {
        ResourceMode::Managed => return Ok(()),
        ResourceMode::Data => "a data resource",
        ResourceMode::Ephemeral => "an ephemeral resource",
    };
    let detail =
        format!("A managed resource address is required. Importing into {what} is not allowed.");
    Err(Failure::error("Invalid target resource address", detail))
}

/// That the configuration has the resource, so that a slip of the pen does not record what the next plan would destroy.
fn check_declared(
    configuration: &Configuration,
    address: &ResourceInstance,
) -> Result<(), Failure> {
    let module = address.module.path();
    if !configuration.modules().any(|node| node.path == module) {
        let detail = format!(
            "{} is not defined in the configuration. Please add configuration for this module before importing into it.",
            address.module
        );
        return Err(Failure::error("Import to non-existent module", detail));
    }
    if configuration.resource(&address.config()).is_some() {
        return Ok(());
    }
    let place = match module == ModulePath::root() {
        true => "the root module".to_owned(),
        false => address.module.to_string(),
    };
    let (ty, name) = (&address.resource.ty, &address.resource.name);
    let detail = format!(
        "Before importing this resource, please create its configuration in {place}. For example:\n\nresource {ty:?} {name:?} {{\n  # (resource arguments)\n}}"
    );
    let summary =
        format!("resource address {:?} does not exist in the configuration.", address.to_string());
    Err(Failure::error(summary, detail))
}

/// Tells how far the import is.
struct Importing(Arc<Reporter>);

impl Hook for Importing {
    fn pre_import(&self, address: &ResourceInstance, id: &str) -> HookAction {
        self.0.print(&format!("{address}: Importing from ID {id:?}...\n"));
        HookAction::Continue
    }

    fn pre_refresh(&self, object: &HookObject<'_>, before: &Value) -> HookAction {
        let address = object.address;
        self.0.print(&format!(
            "{address}: Import prepared!\n  Prepared {} for import\n",
            address.resource.ty
        ));
        self.0.hook().pre_refresh(object, before)
    }
}
