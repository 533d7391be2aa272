//! `plumb state push`

use super::record_edit;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use engine::estate::PushRules;
use records::Opening;
use runs::edit::Editor;
use std::io::{self, Read};

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, push).await
}

async fn push(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [name] = flags.positional.as_slice() else {
        let detail =
            "It is a state file of Terraform, or - for standard input: plumb state push FILE.";
        return Err(UsageError::other("Exactly one argument expected", detail).into());
    };
    let file = read(session, name).map_err(|error| {
        Failure::error("Failed to open the given state file", format!("{name}: {error}."))
    })?;
    let opened = session.estate(Opening::Create).await?;
    let (estate, contract) = opened.ok_or_else(record_edit::no_records)?;
    let editor = Editor {
        estate: &estate,
        contract: contract.as_ref(),
        terms: session.project()?.project.terms(),
        principal: session.principal(),
    };
    let rules = match flags.switch("force", false) {
        true => PushRules::Forced,
        false => PushRules::Checked,
    };
    let pushed = runs::push::push(&editor, name, &file, rules).await?;
    session.reporter.report(pushed.warnings);
    Ok(0)
}

fn read(session: &Session, name: &str) -> io::Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(session.directory.path.join(name));
    }
    let mut file = Vec::new();
    io::stdin().lock().read_to_end(&mut file)?;
    Ok(file)
}
