//! `plumb explain`: why a plan does what it does with one resource instance.

use super::operation::{self, Operation, Planned};
use super::show;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use crate::signals;
use engine::saved_plan::SavedPlan;
use language::diagnostics::Diagnostic;
use language::module::Configuration;
use runs::source;
use values::address::{AddressError, ResourceInstance};
use views::Escape;
use views::explanation::{GivenVariables, explain};

/// Flags that say how to plan, and mean nothing where there is a plan.
const PLANNING: [&str; 10] = [
    "input",
    "refresh",
    "refresh-only",
    "destroy",
    "new-estate",
    "var",
    "var-file",
    "parallelism",
    "replace",
    "target",
];

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, answer).await
}

async fn answer(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let (address, path) = match flags.positional.as_slice() {
        [address] => (address, None),
        [address, path] => (address, Some(path)),
        _ => {
            let detail = "The explain command expects the address of a resource instance, and may be given the file of a saved plan.";
            return Err(UsageError::other("Wrong number of arguments", detail).into());
        }
    };
    let address: ResourceInstance = address.parse().map_err(|error: AddressError| {
        UsageError::other(&format!("Invalid address {address:?}"), format!("{}.", error.reason))
    })?;
    if let Some(path) = path {
        if let Some((name, _)) = flags.all(&PLANNING).next() {
            let detail = format!(
                "The -{name} option says how to plan, and {path} is a plan already. Leave out the one or the other."
            );
            return Err(UsageError::other("A saved plan and options of planning", detail).into());
        }
        let plan = show::saved_plan(path)?;
        let saved = plan.contents_for_showing();
        let (source, _) = source::from_bundle(&saved.bundle);
        return write(
            session,
            flags,
            &source.configuration,
            saved,
            &GivenVariables::new(),
            &address,
        );
    }
    let mut operation = Operation::parse(session, flags)?;
    operation.shown = false;
    operation.input &= !flags.switch("json", false);
    signals::listen(session.stop.clone(), session.reporter.clone(), signals::CHANGES);
    let planned = operation::plan(session, &operation).await?;
    let Planned { outcome, configuration, given, .. } = planned;
    if outcome.diagnostics.has_errors() {
        return Ok(1);
    }
    write(session, flags, &configuration, &outcome.saved, &given, &address)
}

fn write(
    session: &Session,
    flags: &Flags,
    configuration: &Configuration,
    plan: &SavedPlan,
    given: &GivenVariables,
    address: &ResourceInstance,
) -> Result<u8, Failure> {
    let explanation = explain(configuration, plan, given, address).map_err(|unexplained| {
        Diagnostic::error("No such resource instance", unexplained.to_string())
    })?;
    let colour = session.reporter.text.colour;
    session.reporter.write(|out| match flags.switch("json", false) {
        true => writeln!(out, "{}", explanation.to_json().to_text(Escape::Html)),
        false => explanation.write_text(colour, out),
    });
    Ok(0)
}
