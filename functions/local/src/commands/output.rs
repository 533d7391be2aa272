//! `plumb output`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use language::diagnostics::Diagnostic;
use records::Opening;
use runs::RunError;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use views::outputs;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, output).await
}

async fn output(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let (json, raw) = (flags.switch("json", false), flags.switch("raw", false));
    let detail = "The output command expects exactly one argument with the name of an output variable or no arguments to show all outputs.";
    if flags.positional.len() > 1 {
        return Err(UsageError::other("Unexpected argument", detail).into());
    }
    if json && raw {
        let detail = "The -raw and -json options are mutually-exclusive.";
        return Err(UsageError::other("Invalid output format", detail).into());
    }
    let name = flags.positional.first();
    if raw && name.is_none() {
        let detail = "You must give the name of a single output value when using the -raw option.";
        return Err(UsageError::other("Output name required", detail).into());
    }
    let all = read(session).await?;
    let reporter = &session.reporter;
    let Some(name) = name else {
        if all.is_empty() && !json {
            reporter.report([no_outputs()]);
            return Ok(0);
        }
        reporter.write(|out| match json {
            true => outputs::write_all_json(&all, out),
            false => outputs::write_all(&all, out),
        });
        return Ok(0);
    };
    let Some(value) = all.get(&**name) else {
        if all.is_empty() {
            reporter.report([no_outputs()]);
            return Ok(0);
        }
        return Err(Diagnostic::error(
            format!("Output \"{name}\" not found"),
            "The output variable requested could not be found in the records. If you recently added this to your configuration, be sure to run `plumb apply`, since the records won't be updated with new output variables until that command is run.",
        )
        .into());
    };
    if raw {
        let text = outputs::raw(name, value).map_err(|error| {
            Diagnostic::error("Unsupported value for raw output", format!("{error}"))
        })?;
        reporter.print(&text);
        return Ok(0);
    }
    reporter.write(|out| match json {
        true => outputs::write_one_json(value, out),
        false => outputs::write_one(value, out),
    });
    Ok(0)
}

async fn read(session: &Session) -> Result<BTreeMap<Arc<str>, Value>, Failure> {
    let Some((estate, _)) = session.estate(Opening::Existing).await? else {
        return Ok(BTreeMap::new());
    };
    let reading = estate.read().await.map_err(RunError::from)?;
    Ok(reading.state.outputs.iter().map(|(name, o)| (name.clone(), o.value.clone())).collect())
}

fn no_outputs() -> Diagnostic {
    Diagnostic::warning(
        "No outputs found",
        "The records hold no outputs. Define an output in your configuration with the `output` keyword and run `plumb apply` for it to become available. If you are using interpolation, verify that the interpolated value is not empty.",
    )
}
