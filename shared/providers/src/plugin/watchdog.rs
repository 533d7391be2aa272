//! Plugins end when we end, however we end.
//!
//! A process that is killed cannot clean up. So a second process, this program again, waits on a
//! pipe whose other end only we hold: when it closes, it kills the process groups that it was told
//! of. A plugin is started through a gate, this program again too, that becomes the plugin only
//! once the watchdog knows it, and ends where we end before.

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The argument that makes the gate out of the watchdog's command.
const GATE: &str = "gate";

/// How to start this program so that it calls [`run`] with the arguments that follow `args`.
#[derive(Clone, Debug)]
pub struct WatchdogCommand {
    /// This program.
    pub program: PathBuf,
    /// Its hidden arguments.
    pub args: Vec<OsString>,
}

/// What a program does when it was started by a [`WatchdogCommand`]: watches until `input`, its
/// standard input, ends; or, as a gate, becomes a plugin.
///
/// # Errors
/// Where the plugin cannot be run, or `input` cannot be read. The caller should report it on its
/// standard error and exit with a failure.
pub fn run(args: impl IntoIterator<Item = OsString>, mut input: impl Read) -> io::Result<()> {
    let mut args = args.into_iter();
    match (args.next(), args.next()) {
        (None, _) => watch(input),
        (Some(mode), Some(program)) if mode == GATE => {
            if input.read(&mut [0])? == 0 {
                return Ok(());
            }
            let error = Command::new(&program).args(args).stdin(Stdio::null()).exec();
            Err(io::Error::new(
                error.kind(),
                format!("{} could not be run: {error}", program.display()),
            ))
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "unknown watchdog arguments")),
    }
}

fn watch(input: impl Read) -> io::Result<()> {
    let mut groups = HashSet::new();
    for line in BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        match (line.get(..1), line.get(1..).and_then(|id| id.parse().ok()).and_then(Pid::from_raw))
        {
            (Some("+"), Some(group)) => {
                groups.insert(group);
            }
            (Some("-"), Some(group)) => {
                groups.remove(&group);
            }
            _ => {}
        }
    }
    for group in groups {
        // Gone already is as good.
        let _ = kill_process_group(group, Signal::KILL);
    }
    Ok(())
}

/// Our end of the watchdog.
pub(super) struct Watchdog {
    command: WatchdogCommand,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Option<Child>,
    groups: HashSet<Pid>,
}

impl Watchdog {
    pub(super) fn new(command: WatchdogCommand) -> Watchdog {
        Watchdog { command, state: Mutex::default() }
    }

    /// The command that becomes `program` once a byte is written to its standard input.
    pub(super) fn gate(&self, program: &std::path::Path, args: &[OsString]) -> Command {
        let mut command = Command::new(&self.command.program);
        command.args(&self.command.args).arg(GATE).arg(program).args(args);
        command
    }

    /// From now on, `group` dies when we die.
    pub(super) fn register(&self, group: Pid) -> io::Result<()> {
        let mut state = self.lock();
        state.groups.insert(group);
        self.tell(&mut state, '+', group)
    }

    /// `group` is gone, and its number may be used by others.
    pub(super) fn unregister(&self, group: Pid) {
        let mut state = self.lock();
        if state.groups.remove(&group) {
            // Where the watchdog cannot be told, it is gone and will do nothing.
            let _ = self.tell(&mut state, '-', group);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, state: &mut State, sign: char, group: Pid) -> io::Result<()> {
        let line = format!("{sign}{}\n", group.as_raw_nonzero());
        if let Some(stdin) = state.running.as_mut().and_then(|child| child.stdin.as_mut())
            && stdin.write_all(line.as_bytes()).is_ok()
        {
            return Ok(());
        }
        // None yet, or somebody ended it: a new one learns of all.
        if let Some(mut old) = state.running.take() {
            let _ = old.kill();
            let _ = old.wait();
        }
        let mut child = Command::new(&self.command.program)
            .args(&self.command.args)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let mut all = String::new();
        for group in &state.groups {
            all.push_str(&format!("+{}\n", group.as_raw_nonzero()));
        }
        if let Some(stdin) = child.stdin.as_mut() {
            stdin.write_all(all.as_bytes())?;
        }
        state.running = Some(child);
        Ok(())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut child) = self.lock().running.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
