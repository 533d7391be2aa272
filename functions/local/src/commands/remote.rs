//! `plumb` as a client of a deployed bundle: `submit`, `approve`, `reject`, `cancel`, `drift`, and `runs list` and `runs show` with `-remote`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::prompt::ask;
use crate::session::Session;
use crate::stores::ProcessSurroundings;
use crate::whole_file::{self, Readers};
use runs::remote_api::{Authorization, RemoteApi, RemoteApiError, in_query};
use runs::secrets::Secret;
use runs::stores::StoreSurroundings;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use views::drift_report::DriftReport;

/// The variable that names a deployment where the flag -remote does not.
const REMOTE_VARIABLE: &str = "PLUMB_REMOTE";
/// A token of the issuer that the deployment trusts.
const TOKEN_VARIABLE: &str = "PLUMB_TOKEN";
/// API Gateway waits no longer for a function.
const PATIENCE: Duration = Duration::from_secs(35);

/// What is done to a run.
#[derive(Clone, Copy)]
pub(super) enum Deed {
    Approve,
    Reject,
    Cancel,
}

impl Deed {
    fn word(self) -> &'static str {
        match self {
            Deed::Approve => "approve",
            Deed::Reject => "reject",
            Deed::Cancel => "cancel",
        }
    }
}

pub(super) async fn submit(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, begin_run).await
}

async fn begin_run(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let [commit] = flags.positional.as_slice() else {
        let detail =
            "It is the full hash of a commit that was pushed: plumb submit $(git rev-parse HEAD).";
        return Err(UsageError::other("Exactly one argument expected", detail).into());
    };
    let estate = session.deployed_estate()?;
    let body = json!({
        "estate": estate.as_str(),
        "commit": commit,
        "apply": flags.switch("apply", false),
    });
    let begun = api(session, flags).await?.post("/runs", &body).await.map_err(refused)?;
    show(session, flags, &begun, |begun| {
        let run = text(begun, "run");
        format!("The run {run} has begun. What becomes of it: plumb runs show -remote=… {run}\n")
    });
    Ok(0)
}

pub(super) async fn decide(
    invocation: &Invocation,
    environment: ProcessEnvironment,
    deed: Deed,
) -> u8 {
    let work = async |session: &Session, flags: &Flags| decided(session, flags, deed).await;
    super::carry_out(invocation, environment, work).await
}

async fn decided(session: &Session, flags: &Flags, deed: Deed) -> Result<u8, Failure> {
    let run = run_of(flags)?;
    let estate = session.deployed_estate()?.to_string();
    let api = api(session, flags).await?;
    let path = format!("/runs/{run}/{}", deed.word());
    let body = match deed {
        Deed::Cancel => json!({"estate": estate}),
        Deed::Approve | Deed::Reject => {
            let digest = match flags.value("digest") {
                Some(digest) => digest.to_owned(),
                None => looked_at(session, flags, &api, &estate, &run, deed).await?,
            };
            json!({"estate": estate, "plan_digest": digest})
        }
    };
    let done = api.post(&path, &body).await.map_err(refused)?;
    show(session, flags, &done, |done| {
        format!("The run {} is {}.\n", text(done, "run"), text(done, "decision"))
    });
    Ok(0)
}

/// Shows the plan and asks; the digest of what was shown.
async fn looked_at(
    session: &Session,
    flags: &Flags,
    api: &RemoteApi,
    estate: &str,
    run: &str,
    deed: Deed,
) -> Result<String, Failure> {
    let found =
        api.get(&format!("/runs/{run}?estate={}", in_query(estate))).await.map_err(refused)?;
    let digest = text(&found, "plan_digest").to_owned();
    if digest.is_empty() {
        let status = text(&found, "status");
        let detail = format!("The run {run} has no plan to {}: it is {status}.", deed.word());
        return Err(Failure::error("Nothing to decide about", detail));
    }
    if !flags.switch("input", session.environment.input()) {
        let detail = format!(
            "Nobody can be asked. Name the digest of the plan that you looked at: plumb {} -digest={digest} {run}",
            deed.word()
        );
        return Err(UsageError::other("No digest", detail).into());
    }
    session.reporter.print(&format!("{}\n", text(&found, "text")));
    let title = format!("Do you {} this plan?", deed.word());
    let answer = ask(&session.stop, title, "Only 'yes' will be accepted.".to_owned()).await;
    match answer {
        Ok(answer) if answer == "yes" => Ok(digest),
        Ok(_) | Err(_) => Err(Failure::error("Nothing was decided", "The answer was not \"yes\".")),
    }
}

/// `runs list -remote`
pub(super) async fn list(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let estate = session.deployed_estate()?;
    let path = format!("/runs?estate={}", in_query(estate.as_str()));
    let found = api(session, flags).await?.get(&path).await.map_err(refused)?;
    show(session, flags, &found, |found| {
        let runs = found["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
        runs.iter().map(line).collect()
    });
    Ok(0)
}

/// `runs show -remote`
pub(super) async fn one(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let run = run_of(flags)?;
    let estate = session.deployed_estate()?;
    let path = format!("/runs/{run}?estate={}", in_query(estate.as_str()));
    if flags.switch("html", false) {
        let page = api(session, flags).await?.page(&path).await.map_err(refused)?;
        write_out(session, flags, page.as_bytes())?;
        return Ok(0);
    }
    let found = api(session, flags).await?.get(&path).await.map_err(refused)?;
    show(session, flags, &found, |found| {
        let digest = match text(found, "plan_digest") {
            "" => String::new(),
            digest => format!("Digest of its plan: {digest}\n"),
        };
        format!("{}{digest}\n{}", line(found), text(found, "text"))
    });
    Ok(0)
}

/// `drift -remote`
pub(super) async fn drift(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, all_drift).await
}

async fn all_drift(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(
        0,
        "The command takes no arguments: it reports on all estates that you may see.",
    )?;
    let api = api(session, flags).await?;
    if flags.switch("html", false) {
        let page = api.page("/drift").await.map_err(refused)?;
        write_out(session, flags, page.as_bytes())?;
        return Ok(0);
    }
    let found = api.get("/drift").await.map_err(refused)?;
    let mut text = Vec::new();
    let written = match flags.switch("json", false) {
        true => writeln!(text, "{found}"),
        false => {
            let report: DriftReport = serde_json::from_value(found).map_err(|error| {
                let detail = format!("Its drift report cannot be read: {error}.");
                Failure::error("The deployment is of another version", detail)
            })?;
            report.write_text(session.reporter.text.colour, &mut text)
        }
    };
    written.map_err(|error| Failure::error("The report cannot be written", error.to_string()))?;
    write_out(session, flags, &text)?;
    Ok(0)
}

/// Writes what was asked for, to the file that `-out` names if it does.
pub(super) fn write_out(session: &Session, flags: &Flags, content: &[u8]) -> Result<(), Failure> {
    let Some(path) = flags.value("out") else {
        session.reporter.write(|out| out.write_all(content));
        return Ok(());
    };
    whole_file::write(Path::new(path), content, Readers::Owner).map_err(|error| {
        Failure::error("Failed to write", format!("{path} could not be written: {error}."))
    })
}

/// A run in one line.
fn line(run: &Value) -> String {
    let code = match text(run, "code") {
        "" => String::new(),
        code => format!(" ({code})"),
    };
    format!("{}  {:<7} {}{code}\n", text(run, "run"), text(run, "mode"), text(run, "status"))
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// The run that a command names: letters, digits and the like, which need no escapes in a path.
fn run_of(flags: &Flags) -> Result<String, Failure> {
    match flags.positional.as_slice() {
        [run] if run.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) => {
            Ok(run.clone())
        }
        _ => {
            let detail = "It is a run as \"plumb runs list -remote=…\" prints it.";
            Err(UsageError::other("Exactly one run expected", detail).into())
        }
    }
}

/// The deployment that flags or the environment name.
async fn api(session: &Session, flags: &Flags) -> Result<RemoteApi, Failure> {
    let environment = &session.environment;
    let address = flags.value("remote").or_else(|| environment.get(REMOTE_VARIABLE));
    let Some(address) = address else {
        let detail = format!(
            "Name it with -remote=URL or the variable {REMOTE_VARIABLE}: it is the output Api of the stack."
        );
        return Err(UsageError::other("No deployment", detail).into());
    };
    let https = session.https(PATIENCE);
    let authorization = match environment.get(TOKEN_VARIABLE) {
        Some(token) => Authorization::Token(Secret::new(token)),
        None => {
            let surroundings = ProcessSurroundings(session.environment.clone());
            Authorization::Signature(Box::new(surroundings.aws(None).await))
        }
    };
    Ok(RemoteApi::new(Arc::new(https), address, authorization))
}

fn refused(error: RemoteApiError) -> Failure {
    Failure::error("The deployment did not do it", format!("{error}."))
}

/// The answer as it is for programs, in words for people.
fn show(session: &Session, flags: &Flags, answer: &Value, words: impl FnOnce(&Value) -> String) {
    match flags.switch("json", false) {
        true => session.reporter.print(&format!("{answer}\n")),
        false => session.reporter.print(&words(answer)),
    }
}
