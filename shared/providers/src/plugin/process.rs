use super::output::{self, Tail};
use super::watchdog::Watchdog;
use crate::StartFailure;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStdout, Command};
use tokio::sync::watch;
use values::address::ProviderAddress;

/// A running plugin: a process group of its own, known to the watchdog, killed when dropped.
pub(super) struct Process {
    group: Pid,
    exit: watch::Receiver<Option<ExitStatus>>,
    stderr: Tail,
    stderr_end: watch::Receiver<bool>,
}

/// How long the last of a dead plugin's standard error may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Process {
    /// Starts a program with exactly this environment.
    pub(super) async fn spawn(
        watchdog: &Arc<Watchdog>,
        provider: &ProviderAddress,
        program: &Path,
        args: &[OsString],
        environment: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<(Process, BufReader<ChildStdout>), StartFailure> {
        let refused = |e: std::io::Error| StartFailure::Spawn {
            path: program.display().to_string(),
            detail: e.to_string(),
        };
        let mut command = watchdog.gate(program, args);
        command
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = Command::from(command).kill_on_drop(true).spawn().map_err(refused)?;
        let group =
            child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).ok_or_else(
                || StartFailure::Own { detail: "the plugin has no process id".into() },
            )?;
        watchdog.register(group).map_err(|e| StartFailure::Own {
            detail: format!("the watchdog of plugin processes could not be started: {e}"),
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(StartFailure::Own { detail: "the plugin's output is missing".into() });
        };
        let tail = Tail::default();
        let log = output::log_stderr(BufReader::new(stderr), provider.clone(), tail.clone());
        let (ended, stderr_end) = watch::channel(false);
        tokio::spawn(async move {
            log.await;
            ended.send_replace(true);
        });
        let (sender, exit) = watch::channel(None);
        let watchdog = watchdog.clone();
        tokio::spawn(async move {
            let status = child.wait().await.unwrap_or_default();
            // What the plugin itself started ends with it.
            let _ = kill_process_group(group, Signal::KILL);
            watchdog.unregister(group);
            let _ = sender.send(Some(status));
        });
        // Where the gate has ended already, its exit tells more than the broken pipe.
        let _ = stdin.write_all(b"\n").await;
        Ok((Process { group, exit, stderr: tail, stderr_end }, BufReader::new(stdout)))
    }

    /// Its id, which is that of its group.
    pub(super) fn id(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }
    /// Its exit status, where it has ended.
    pub(super) fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }
    /// Waits for its end; when this returns it is reaped.
    pub(super) async fn exited(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => (*status).unwrap_or_default(),
            Err(_) => ExitStatus::default(),
        }
    }
    /// Kills the whole process group.
    pub(super) fn kill(&self) {
        // Not after its end: the number may belong to others then.
        if self.exit_status().is_none() {
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }
    /// The last of what it wrote to its standard error; all of it, where it has ended.
    pub(super) async fn stderr_tail(&self) -> String {
        if self.exit_status().is_some() {
            let mut end = self.stderr_end.clone();
            let _ = tokio::time::timeout(LAST_WORDS, end.wait_for(|ended| *ended)).await;
        }
        self.stderr.text()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
