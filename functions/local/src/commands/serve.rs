//! `plumb serve`: the API and the workflow in this process, with records in a directory.

use crate::WATCHDOG;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::project;
use crate::serve::{HttpServer, LocalFunctions, Log, Responder, Slots, Steps, look_on_schedule};
use crate::session::Session;
use crate::working_directory::STORE;
use providers::SchemaCache;
use providers::plugin::watchdog::WatchdogCommand;
use records::{DirectoryStore, Hold, Key, Opening, RecordStore};
use runs::deployment::Deployment;
use runs::function_environment::FunctionEnvironment;
use runs::local_deployment::{AccessTokens, Handover, LocalDeployment, NewToken};
use runs::project::{DirectoryTable, FILE, Project, StoreTable};
use runs::schedule::Schedule;
use runs::state_machine::{Definition, LocalExecutions};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The definition that is deployed, too.
const DEFINITION: &str = include_str!("../../../run.asl.json");
/// Where it listens if nothing else is said.
const LISTEN: &str = "127.0.0.1:7586";
/// The folder of all that is the deployment's, in that of the project's own.
const FOLDER: &str = "serve";
/// The address that others reach it by, where it is another one: for links, as in functions.
const API_VARIABLE: &str = "PLUMB_API";
const PLAIN: &str = "allow-plain-http";
/// How long a host may take for one answer: archives take a while.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, serve).await
}

async fn serve(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The command takes no arguments.")?;
    let address = address(flags)?;
    let mut signals = Signals::listen()?;
    let (root, project) = project::locate(&session.directory.path, &session.environment)?;
    let local = deployment(&root, project)?;
    let settings = settings(&local)?;
    let (tokens, made) = tokens(session, &local, &settings)?;
    let executions = DirectoryStore::open(local.executions(), Opening::Create).await;
    let executions: Arc<dyn RecordStore> = Arc::new(executions.map_err(cannot_be_kept)?);
    let _alone = alone(&*executions, &local).await?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let detail = format!("{address} cannot be listened on: {error}.");
        Failure::error("Failed to listen", detail)
    })?;
    let address = listener.local_addr().unwrap_or(address);
    let here = format!("http://{address}");
    let api = session.environment.get(API_VARIABLE).unwrap_or(&here).to_owned();
    let log = Arc::new(Log(session.reporter.clone()));
    let surroundings = session.surroundings();
    let environments = environments(session, &local);
    let environment = Arc::new(environments("api"));
    let slots = Slots::new(move |number| environments(&number.to_string()));
    let estates = local.project.estates.iter();
    let directories = estates.map(|(name, estate)| (name.clone(), estate.directory.clone()));
    let steps = Steps {
        secrets: local.secrets(),
        https: Arc::new(session.https(PATIENCE)),
        surroundings,
        clock: session.clock.clone(),
        log: log.clone(),
        api: api.clone(),
        directories: directories.collect(),
    };
    let functions =
        LocalFunctions { slots: slots.clone(), log: log.clone(), steps: Arc::new(steps) };
    let definition = Definition::parse(DEFINITION)
        .map_err(|error| Failure::of("Invalid definition of runs", &error))?;
    let workflow = LocalExecutions::new(
        definition,
        executions,
        Arc::new(functions),
        log.clone(),
        session.clock.clone(),
        session.random.clone(),
    );
    welcome(&log, &local, &api, &made);
    let resumed = workflow.resume().await.map_err(cannot_be_kept)?;
    if resumed > 0 {
        log.line(&format!("Runs of an earlier process that are gone on with: {resumed}"));
    }
    let scheduled = schedules(session, &local, &settings, &environment, &workflow, &log)?;
    let (stop, stopping) = watch::channel(false);
    let responder = Arc::new(Responder {
        environment,
        executions: Arc::new(workflow.clone()),
        secrets: Arc::new(local.secrets()),
        tokens,
        log: log.clone(),
        api,
    });
    let server = tokio::spawn(HttpServer { listener, responder }.serve(stopping));
    log.line(&format!("Listening on {here}"));
    signals.next().await;
    log.line(
        "Stopping: nothing new begins, and an apply ends what it has in flight. What is left goes on when plumb serve is \
         started again. A second interrupt waits for nothing.",
    );
    drop(scheduled);
    stop.send_replace(true);
    slots.hand_over();
    tokio::select! {
        () = async {
            workflow.stop().await;
            let _ = server.await;
        } => Ok(0),
        () = signals.next() => Ok(1),
    }
}

/// The address to listen on. What anybody may read on the way carries no tokens.
fn address(flags: &Flags) -> Result<SocketAddr, UsageError> {
    let text = flags.value("listen").unwrap_or(LISTEN);
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    let address: SocketAddr = text.parse().map_err(|_| {
        let detail = format!("{text:?} is no address with a port, such as {LISTEN}.");
        UsageError::other("Invalid address", detail)
    })?;
    match address.ip().is_loopback() || flags.switch(PLAIN, false) {
        true => Ok(address),
        false => Err(UsageError::other(
            "Not on this address without TLS",
            format!(
                "{address} is reached by other machines, and tokens and plans would cross the network in the clear. Listen on \
                 loopback behind a proxy that speaks TLS; or, where something else encrypts every way to this address, say so \
                 with -{PLAIN}."
            ),
        )),
    }
}

/// Where everything is kept. The store has to be one directory for all estates, that of every other command: another one would
/// make plans as if nothing existed.
fn deployment(root: &Path, mut project: Project) -> Result<LocalDeployment, Failure> {
    let refused = |detail: String| Err(Failure::error("No store for plumb serve", detail));
    if project.estates.is_empty() {
        return refused(format!(
            "{FILE} in {} names no estates. Add [estates.NAME] with its directory.",
            root.display()
        ));
    }
    let alone = project.estates.values().all(|estate| is_root(&estate.directory));
    let path = match &project.store {
        StoreTable::Dir(DirectoryTable { path: Some(path) }) => root.join(path),
        StoreTable::Dir(DirectoryTable { path: None }) if alone => root.join(STORE),
        StoreTable::Dir(_) => {
            return refused(format!(
                "{FILE} keeps the records of each estate beside its configuration, and plumb serve needs one directory for \
                 all. Add\n\n  [store.dir]\n  path = \"{STORE}\"\n\nand take records that exist there with plumb migrate-store."
            ));
        }
        StoreTable::S3(_) | StoreTable::Kubernetes(_) => {
            return refused(format!(
                "{FILE} keeps records elsewhere than in a directory. For those, deploy the bundle: functions need no \
                 process that stays."
            ));
        }
    };
    project.store = StoreTable::Dir(DirectoryTable { path: Some(path) });
    if let Some(runs::project::ArtifactsTable::Dir(table)) = &mut project.artifacts {
        table.path = Some(root.join(table.path.clone().unwrap_or_else(|| STORE.into())));
    }
    Ok(LocalDeployment { project, folder: root.join(STORE).join(FOLDER) })
}

fn is_root(directory: &Path) -> bool {
    directory.components().all(|part| part == std::path::Component::CurDir)
}

/// Who may do what, looked at before anybody asks for anything.
fn settings(local: &LocalDeployment) -> Result<Deployment, Failure> {
    let path = local.settings();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let detail = format!(
            "{} cannot be read: {error}. It says which repositories there are and who may do what; docs/getting-started.md has \
             one to begin with.",
            path.display()
        );
        Failure::error("No deployment.toml", detail)
    })?;
    Deployment::parse(&text).map_err(|error| {
        let detail = format!("In {}: {}", path.display(), error.to_string().trim_end());
        Failure::error("Invalid deployment.toml", detail)
    })
}

fn tokens(
    session: &Session,
    local: &LocalDeployment,
    settings: &Deployment,
) -> Result<(AccessTokens, Vec<NewToken>), Failure> {
    let principals = settings.principals.keys().map(String::as_str);
    let tokens = AccessTokens::open(&local.tokens(), principals, &*session.random);
    ignore(local);
    tokens.map_err(|error| Failure::of("Failed to open the tokens", &error))
}

/// Keeps the folder out of version control: it holds sensitive values and keys.
fn ignore(local: &LocalDeployment) {
    let Some(ignore) = local.folder.parent().map(|folder| folder.join(".gitignore")) else {
        return;
    };
    if !ignore.exists()
        && let Err(error) = std::fs::write(&ignore, "*\n")
    {
        tracing::warn!("{} could not be written: {error}", ignore.display());
    }
}

/// Holds the folder against a second server, which would do everything a second time.
async fn alone(executions: &dyn RecordStore, local: &LocalDeployment) -> Result<Hold, Failure> {
    let name = Key::new("plumb-serve").map_err(cannot_be_kept)?;
    match executions.try_hold(&name).await.map_err(cannot_be_kept)? {
        Hold::Taken => {
            let folder = local.folder.display();
            let detail = format!("Another plumb serve works in {folder}. End it, or ask that one.");
            Err(Failure::error("Already serving", detail))
        }
        held => Ok(held),
    }
}

fn cannot_be_kept(error: records::StoreError) -> Failure {
    Failure::of("Failed to open the store of executions", &error)
}

/// What makes the places that steps work in.
fn environments(
    session: &Session,
    local: &LocalDeployment,
) -> impl Fn(&str) -> FunctionEnvironment + Send + Sync + use<> {
    let schemas = Arc::new(SchemaCache::default());
    let (environment, local) = (session.environment.clone(), local.clone());
    let (surroundings, clock, random) =
        (session.surroundings(), session.clock.clone(), session.random.clone());
    move |scratch: &str| FunctionEnvironment {
        variables: environment.variables().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        inherited: environment.inherited.clone(),
        watchdog: WatchdogCommand {
            program: environment.program.clone(),
            args: vec![WATCHDOG.into()],
        },
        scratch: local.scratch().join(scratch),
        package_room: u64::MAX,
        surroundings: surroundings.clone(),
        clock: clock.clone(),
        random: random.clone(),
        schemas: schemas.clone(),
        local: Some(local.clone()),
        handover: Handover::default(),
    }
}

/// Looks for drift as `plumb.toml` schedules it, until what is answered is dropped.
fn schedules(
    session: &Session,
    local: &LocalDeployment,
    settings: &Deployment,
    environment: &Arc<FunctionEnvironment>,
    workflow: &LocalExecutions,
    log: &Arc<Log>,
) -> Result<JoinSet<()>, Failure> {
    let mut scheduled = JoinSet::new();
    for (name, estate) in &local.project.estates {
        let Some(schedule) = &estate.schedule else { continue };
        let schedule = Schedule::parse(schedule).map_err(|error| {
            Failure::error(format!("Invalid {FILE}"), format!("[estates.{name}]: {error}."))
        })?;
        if !settings.estates.contains_key(name) {
            log.line(&format!(
                "{name}: its drift is not looked for, since deployment.toml has no such estate"
            ));
            continue;
        }
        scheduled.spawn(look_on_schedule(
            name.clone(),
            schedule,
            environment.clone(),
            Arc::new(workflow.clone()),
            Arc::new(local.secrets()),
            session.clock.clone(),
            log.clone(),
        ));
    }
    Ok(scheduled)
}

fn welcome(log: &Log, local: &LocalDeployment, api: &str, made: &[NewToken]) {
    // Not the tokens themselves: what is printed here ends in logs that more people read.
    for NewToken { principal, path } in made {
        log.line(&format!("The new token of {principal} is in {}", path.display()));
    }
    let estates: Vec<&str> = local.project.estates.keys().map(String::as_str).collect();
    log.line(&format!("Estates:  {}", estates.join(", ")));
    log.line(&format!("Kept in:  {}", local.folder.display()));
    log.line(&format!("Webhooks: {api}/webhooks/github, {api}/webhooks/gitlab"));
}

/// SIGINT and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Signals, Failure> {
        let listen = || {
            let interrupt = signal(SignalKind::interrupt())?;
            Ok(Signals { interrupt, terminate: signal(SignalKind::terminate())? })
        };
        listen().map_err(|error: std::io::Error| {
            Failure::error("Signals cannot be caught", format!("{error}."))
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
