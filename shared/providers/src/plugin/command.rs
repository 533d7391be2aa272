//! Commands as processes: each a process group of its own that the watchdog knows.

use super::watchdog::Watchdog;
use crate::command::{CommandEnd, CommandError, CommandRequest, ShowLine, StopSignal};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdout, Command};

/// Longer lines are cut into several.
const MAX_LINE: usize = 64 * 1024;

/// What a command has written without ending the line is shown after this: a prompt, or dots of progress.
const PARTIAL_LINE: Duration = Duration::from_millis(100);

/// A process group that dies with this, unless it has ended before.
struct Group<'a> {
    id: Pid,
    watchdog: &'a Watchdog,
    ended: bool,
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = kill_process_group(self.id, Signal::KILL);
        }
        self.watchdog.unregister(self.id);
    }
}

pub(super) async fn run(
    watchdog: &Watchdog,
    inherited: &[(OsString, OsString)],
    command: &CommandRequest,
    output: ShowLine<'_>,
    stop: StopSignal<'_>,
) -> Result<CommandEnd, CommandError> {
    let failed = |e: std::io::Error| CommandError::Spawn { detail: e.to_string() };
    if !command.directory.is_dir() {
        return Err(CommandError::NoDirectory { directory: command.directory.clone() });
    }
    let program = find(command, inherited)?;
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let args: Vec<OsString> = command.args.iter().map(OsString::from).collect();
    let mut gate = watchdog.gate(&program, &args);
    gate.env_clear()
        .envs(inherited.iter().map(|(name, value)| (name, value)))
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&command.directory)
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().map_err(failed)?)
        .stderr(writer)
        .process_group(0);
    // The command is dropped here, and with it our end of what it writes to.
    let mut child = Command::from(gate).kill_on_drop(true).spawn().map_err(failed)?;
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let id = id.ok_or_else(|| CommandError::Spawn { detail: "it has no process id".into() })?;
    let mut group = Group { id, watchdog, ended: false };
    watchdog.register(id).map_err(|e| CommandError::Spawn {
        detail: format!("the watchdog of processes could not be started: {e}"),
    })?;
    let reader = std::process::ChildStdout::from(OwnedFd::from(reader));
    let reader = ChildStdout::from_std(reader).map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Where the gate has ended already, its exit tells more than the broken pipe.
        let _ = stdin.write_all(b"\n").await;
    }
    let to_its_end = async {
        follow(reader, output).await;
        // Until here nobody has waited for it, so that the number of its group is nobody else's.
        child.wait().await
    };
    let status = tokio::select! {
        biased;
        status = to_its_end => status,
        () = stop => {
            let _ = kill_process_group(id, Signal::KILL);
            child.wait().await
        }
    };
    group.ended = true;
    status.map(end).map_err(failed)
}

fn end(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, signal) => CommandEnd::Signalled(signal.unwrap_or_default()),
    }
}

/// Hands on what is read, line by line, until nobody can write any more.
async fn follow(mut reader: impl AsyncRead + Unpin, output: ShowLine<'_>) {
    let tell = |line: &[u8]| output(String::from_utf8_lossy(line).trim_end_matches('\r'));
    let mut line = Vec::new();
    let mut buffer = vec![0; 8 * 1024];
    loop {
        let read = match line.is_empty() {
            true => reader.read(&mut buffer).await,
            false => match tokio::time::timeout(PARTIAL_LINE, reader.read(&mut buffer)).await {
                Ok(read) => read,
                Err(_) => {
                    tell(&line);
                    line.clear();
                    continue;
                }
            },
        };
        let Ok(read @ 1..) = read else { break };
        for byte in &buffer[..read] {
            match byte {
                b'\n' => {
                    tell(&line);
                    line.clear();
                }
                byte => line.push(*byte),
            }
            if line.len() >= MAX_LINE {
                tell(&line);
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        tell(&line);
    }
}

/// The program's file: what names a folder is meant from where the command starts, as a shell has it.
fn find(
    command: &CommandRequest,
    inherited: &[(OsString, OsString)],
) -> Result<PathBuf, CommandError> {
    let program = &command.program;
    if program.contains('/') {
        return match command.directory.join(program).exists() {
            true => Ok(PathBuf::from(program)),
            false => Err(CommandError::NoFile { program: program.clone() }),
        };
    }
    let path = inherited.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let folders = std::env::split_paths(path.map_or(OsStr::new(""), |path| path.as_os_str()));
    let mut candidates = folders.map(|folder| folder.join(program));
    candidates
        .find(|file| is_executable(file))
        .filter(|_| !program.is_empty())
        .ok_or_else(|| CommandError::NotFound { program: program.clone() })
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
