//! Running the command of a `local-exec` provisioner.

use super::output::Concealment;
use providers::{CommandEnd, CommandRequest, Commands, ShowLine, StopSignal};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use values::Value;
use values::quote::quoted;

/// So many bytes of the end of the output are repeated where a command fails.
const TAIL: usize = 8 * 1024;

/// What runs a command where nothing else is said.
const SHELL: [&str; 2] = ["/bin/sh", "-c"];

/// A command as its block describes it.
pub(crate) struct LocalExec {
    command: String,
    interpreter: Vec<String>,
    working_dir: String,
    environment: Vec<(String, String)>,
    quiet: bool,
    concealment: Concealment,
}

/// What became of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has done what it was to do.
    Done,
    /// It failed, for these reasons.
    Failed { summary: &'static str, detail: String },
    /// It was stopped by us before its end.
    Stopped { detail: String },
}

impl LocalExec {
    const FAILED: &'static str = "local-exec provisioner error";

    /// Reads evaluated arguments, which may be marked.
    pub(crate) fn new(config: &Value) -> LocalExec {
        let concealment = Concealment::of(config.deep_marks());
        let config = config.unmark_deep();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let argument = |name: &str| config.attribute(name);
        let environment = argument("environment");
        let environment = environment.as_ref().and_then(Value::as_map);
        let interpreter = argument("interpreter");
        let interpreter = interpreter.as_ref().and_then(Value::as_slice).unwrap_or_default();
        LocalExec {
            command: argument("command").as_ref().and_then(text).unwrap_or_default(),
            interpreter: interpreter.iter().filter_map(text).collect(),
            working_dir: argument("working_dir").as_ref().and_then(text).unwrap_or_default(),
            environment: environment
                .into_iter()
                .flat_map(|map| map.iter())
                .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
                .collect(),
            quiet: argument("quiet").is_some_and(|quiet| quiet == Value::bool(true)),
            concealment,
        }
    }

    /// Runs it, shows what it writes line by line, and waits for its end. `here` is what its directory is relative to.
    pub(crate) async fn run(
        &self,
        commands: &dyn Commands,
        here: &Path,
        show: ShowLine<'_>,
        stop: StopSignal<'_>,
    ) -> Outcome {
        if self.command.is_empty() {
            return Outcome::Failed {
                summary: "Invalid local-exec provisioner command",
                detail: "The command must be a non-empty string.".into(),
            };
        }
        let words = self.words();
        match self.quiet {
            true => self.show("local-exec: Executing: Suppressed by quiet=true", show),
            false => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                self.show(&format!("Executing: [{}]", words.join(" ")), show);
            }
        }
        let mut words = words.into_iter();
        let request = CommandRequest {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            directory: here.join(&self.working_dir),
            environment: self.environment.clone(),
        };
        let tail = Mutex::new(VecDeque::new());
        let stopped = AtomicBool::new(false);
        let stop = Box::pin(async {
            stop.await;
            stopped.store(true, Ordering::SeqCst);
        });
        let output = |line: &str| {
            remember(&tail, line);
            self.show(line, show);
        };
        let end = commands.run(&request, &output, stop).await;
        let tail = tail.into_inner().unwrap_or_else(PoisonError::into_inner);
        let tail = String::from_utf8_lossy(&Vec::from(tail)).into_owned();
        if stopped.into_inner() {
            return Outcome::Stopped { detail: self.told(&"it was stopped", &tail) };
        }
        match end {
            Ok(CommandEnd::Exited(0)) => Outcome::Done,
            Ok(CommandEnd::Exited(code)) => self.failed(&format_args!("exit status {code}"), &tail),
            Ok(CommandEnd::Signalled(signal)) => {
                self.failed(&format_args!("signal: {}", signal_name(signal)), &tail)
            }
            Err(error) => self.failed(&error, &tail),
        }
    }

    /// The program and its arguments.
    fn words(&self) -> Vec<String> {
        let interpreter: Vec<String> = match self.interpreter.is_empty() {
            true => SHELL.map(str::to_owned).to_vec(),
            false => self.interpreter.clone(),
        };
        interpreter.into_iter().chain([self.command.clone()]).collect()
    }

    fn show(&self, line: &str, show: ShowLine<'_>) {
        self.concealment.lines(line, show);
    }

    fn failed(&self, why: &dyn std::fmt::Display, tail: &str) -> Outcome {
        Outcome::Failed { summary: LocalExec::FAILED, detail: self.told(why, tail) }
    }

    /// What is told of a command that has not done what it was to do. Neither the command nor its output is repeated where
    /// they may disclose a value that is not shown.
    fn told(&self, why: &dyn std::fmt::Display, tail: &str) -> String {
        match self.concealment {
            Concealment::Shown => {
                format!("Error running command '{}': {why}. Output: {tail}", self.command)
            }
            Concealment::Sensitive | Concealment::Ephemeral | Concealment::Both => format!(
                "Error running command: {why}. The command and its output are not shown, since a sensitive or ephemeral value is used in the provisioner's configuration."
            ),
        }
    }
}

fn remember(tail: &Mutex<VecDeque<u8>>, line: &str) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend(line.as_bytes());
    tail.push_back(b'\n');
    let surplus = tail.len().saturating_sub(TAIL);
    tail.drain(..surplus);
}

/// As Go calls it, which people have seen in such messages.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        5 => "trace/breakpoint trap",
        6 => "aborted",
        7 => "bus error",
        8 => "floating point exception",
        9 => "killed",
        10 => "user defined signal 1",
        11 => "segmentation fault",
        12 => "user defined signal 2",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
