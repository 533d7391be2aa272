//! `plumb runs list` and `plumb runs show`

use super::adopt::estate;
use super::remote;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::Session;
use views::run_history;

pub(super) async fn list(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, all).await
}

async fn all(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The command takes no arguments. To see one run: plumb runs show RUN.")?;
    if flags.value("remote").is_some() {
        return remote::list(session, flags).await;
    }
    let runs = runs::history::list(&estate(session).await?).await?;
    session.reporter.write(|out| match flags.switch("json", false) {
        true => writeln!(out, "{}", run_history::list_json(&runs)),
        false => run_history::write_list(&runs, out),
    });
    Ok(0)
}

pub(super) async fn show(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, one).await
}

async fn one(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    if flags.value("out").is_some() && !flags.switch("html", false) {
        let detail = "The -out option names the file for the page that -html writes. Other output is put into a file by the shell: plumb runs show RUN > FILE.";
        return Err(UsageError::other("Nothing to write to a file", detail).into());
    }
    if flags.value("remote").is_some() {
        return remote::one(session, flags).await;
    }
    if flags.switch("html", false) {
        let detail = "The -html option shows a run of a deployment, which -remote=URL names.";
        return Err(UsageError::other("No deployment", detail).into());
    }
    let [name] = flags.positional.as_slice() else {
        let detail =
            "It is a run as \"plumb runs list\" prints it, or a plan; its beginning will do.";
        return Err(UsageError::other("Exactly one argument expected", detail).into());
    };
    let found = runs::history::find(&estate(session).await?, name).await?;
    let run = match found.as_slice() {
        [run] => run,
        [] => {
            let detail = format!(
                "No run and no plan of this estate begins with {name:?}. To see all: plumb runs list."
            );
            return Err(Failure::error("No such run", detail));
        }
        several => {
            let names: Vec<&str> = several.iter().map(|run| run.run.as_str()).collect();
            let detail = format!("{name:?} is the beginning of several: {}.", names.join(", "));
            return Err(Failure::error("Several runs have that name", detail));
        }
    };
    session.reporter.write(|out| match flags.switch("json", false) {
        true => writeln!(out, "{}", run_history::run_json(run)),
        false => run_history::write_run(run, out),
    });
    Ok(0)
}
