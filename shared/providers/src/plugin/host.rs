use super::client::Client;
use super::command;
use super::handshake::{self, Handshake};
use super::output;
use super::process::Process;
use super::provider::PluginProvider;
use super::tls::Identity;
use super::watchdog::{Watchdog, WatchdogCommand};
use super::{PluginCommand, RunningPlugin, connection};
use crate::schema_cache::SharedSchema;
use crate::{CommandEnd, CommandError, CommandRequest, Commands, ShowLine, StopSignal};
use crate::{ProviderError, StartFailure};
use async_trait::async_trait;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use values::address::ProviderAddress;

/// Shows a plugin that it was started by what it is made for.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// How long plugins may take.
#[derive(Clone, Copy, Debug)]
pub struct PluginTimeouts {
    /// From the start of the process to its handshake.
    pub start: Duration,
    /// From the request to shut down to the kill.
    pub shutdown: Duration,
}

impl Default for PluginTimeouts {
    /// 60 s and 2 s.
    fn default() -> PluginTimeouts {
        PluginTimeouts { start: Duration::from_secs(60), shutdown: Duration::from_secs(2) }
    }
}

/// Starts plugins, and knows all that live; runs commands with the same care.
pub struct PluginHost {
    watchdog: Arc<Watchdog>,
    environment: Vec<(OsString, OsString)>,
    timeouts: PluginTimeouts,
    living: Mutex<Vec<Weak<Process>>>,
}

impl PluginHost {
    /// A host whose plugins and commands get `environment`; plugins get what the handshake needs in addition.
    pub fn new(
        watchdog: WatchdogCommand,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        timeouts: PluginTimeouts,
    ) -> PluginHost {
        PluginHost {
            watchdog: Arc::new(Watchdog::new(watchdog)),
            environment: environment.into_iter().collect(),
            timeouts,
            living: Mutex::default(),
        }
    }

    /// Starts a plugin and connects to it.
    ///
    /// # Errors
    /// [`ProviderError::Start`] with what went wrong; nothing of the plugin is left then.
    pub async fn start(
        &self,
        address: &ProviderAddress,
        command: &PluginCommand,
        schema: Arc<SharedSchema>,
    ) -> Result<PluginProvider, ProviderError> {
        let failed =
            |reason| ProviderError::Start { provider: address.clone(), reason: Box::new(reason) };
        let identity = Identity::generate().map_err(|e| {
            failed(StartFailure::Own { detail: format!("no certificate could be made: {e}") })
        })?;
        let own = [
            (COOKIE.0, COOKIE.1),
            ("PLUGIN_PROTOCOL_VERSIONS", "5,6"),
            ("PLUGIN_MIN_PORT", "10000"),
            ("PLUGIN_MAX_PORT", "25000"),
            ("PLUGIN_CLIENT_CERT", identity.pem()),
        ];
        let environment = self.environment.iter().cloned();
        let environment = environment.chain(own.map(|(k, v)| (k.into(), v.into())));
        let (process, mut stdout) =
            Process::spawn(&self.watchdog, address, &command.program, &command.args, environment)
                .await
                .map_err(failed)?;
        let process = Arc::new(process);
        self.remember(&process);
        let limit = self.timeouts.start;
        let connected = tokio::time::timeout(limit, async {
            let line = output::next_line(&mut stdout).await.ok().flatten();
            let handshake = self.handshake(&process, line).await?;
            let tls = connection::tls(&handshake, &identity)?;
            let channel = connection::connect(&handshake.address, tls).await?;
            Ok((handshake, channel))
        })
        .await
        .unwrap_or_else(|_| {
            Err(StartFailure::TimedOut { seconds: limit.as_secs(), stderr: String::new() })
        });
        let (Handshake { version, address: listens_at, .. }, channel) = match connected {
            Ok(connected) => connected,
            Err(reason) => {
                process.kill();
                process.exited().await;
                return Err(failed(reason.with_stderr(&process.stderr_tail().await)));
            }
        };
        tokio::spawn(output::log_stdout(stdout, address.clone()));
        let client = Client::new(address.clone(), version, channel, Some(process));
        Ok(PluginProvider::new(client, schema, self.timeouts.shutdown, listens_at))
    }

    /// Connects to a plugin that runs already. Closing it ends the connection alone.
    ///
    /// # Errors
    /// [`ProviderError::Start`] where nothing answers at its address.
    pub async fn attach(
        &self,
        address: &ProviderAddress,
        running: &RunningPlugin,
    ) -> Result<PluginProvider, ProviderError> {
        let RunningPlugin { version, address: listens_at } = running.clone();
        let limit = self.timeouts.start;
        let connected = tokio::time::timeout(limit, connection::connect(&listens_at, None)).await;
        let connected = connected.unwrap_or_else(|_| {
            Err(StartFailure::TimedOut { seconds: limit.as_secs(), stderr: String::new() })
        });
        let channel = connected.map_err(|reason| ProviderError::Start {
            provider: address.clone(),
            reason: Box::new(reason),
        })?;
        let client = Client::new(address.clone(), version, channel, None);
        // It may be rebuilt at any time: its schema is nobody else's.
        Ok(PluginProvider::new(client, Arc::default(), self.timeouts.shutdown, listens_at))
    }

    async fn handshake(
        &self,
        process: &Process,
        line: Option<String>,
    ) -> Result<Handshake, StartFailure> {
        let error = match line.as_deref().map(handshake::parse) {
            Some(Ok(handshake)) => return Ok(handshake),
            Some(Err(error)) => Some(error),
            None => None,
        };
        // A program that ends says why by its end, whatever it wrote.
        let exit = tokio::time::timeout(Duration::from_secs(1), process.exited()).await;
        Err(match (exit, error) {
            (_, Some(error @ StartFailure::UnsupportedProtocol { .. })) => error,
            (Ok(status), None) => {
                StartFailure::ExitedEarly { status: status.to_string(), stderr: String::new() }
            }
            (_, Some(error)) => error,
            (Err(_), None) => StartFailure::BadHandshake {
                line: String::new(),
                detail: "it closed its standard output".into(),
                stderr: String::new(),
            },
        })
    }

    /// Kills and reaps every plugin that lives. Calls under way fail.
    pub async fn kill_all(&self) {
        let living = std::mem::take(&mut *self.lock());
        let living: Vec<Arc<Process>> = living.iter().filter_map(Weak::upgrade).collect();
        living.iter().for_each(|p| p.kill());
        for process in living {
            process.exited().await;
        }
    }

    fn remember(&self, process: &Arc<Process>) {
        let mut living = self.lock();
        living.retain(|p| p.upgrade().is_some_and(|p| p.exit_status().is_none()));
        living.push(Arc::downgrade(process));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Process>>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Commands for PluginHost {
    async fn run(
        &self,
        command: &CommandRequest,
        output: ShowLine<'_>,
        stop: StopSignal<'_>,
    ) -> Result<CommandEnd, CommandError> {
        command::run(&self.watchdog, &self.environment, command, output, stop).await
    }
}
