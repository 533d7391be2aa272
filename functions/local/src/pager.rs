//! What is longer than the screen goes through the program that a person reads long texts with.

use crate::environment::ProcessEnvironment;
use crate::terminal;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use tokio::signal::unix::{SignalKind, signal};

/// What `less` does where nobody has told it otherwise: end at once where all fits on the screen, show
/// colours, and leave the text there.
const LESS: &str = "FRX";

/// Writes through the pager where a person looks at a terminal, and else to standard output.
pub(crate) fn write(
    environment: &ProcessEnvironment,
    wanted: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) {
    match pager(environment).filter(|_| wanted).and_then(|pager| start(&pager, environment)) {
        Some(child) => through(child, write),
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            // Where nobody reads, nothing is lost.
            let _ = write(&mut out).and_then(|()| out.flush());
        }
    }
}

/// The command line of the pager; `None` where there is to be none.
fn pager(environment: &ProcessEnvironment) -> Option<String> {
    let watched = io::stdout().is_terminal() && io::stdin().is_terminal();
    if !watched || terminal::is_automated(environment) || environment.get("TERM") == Some("dumb") {
        return None;
    }
    match environment.pager() {
        None => Some("less".to_owned()),
        Some("" | "cat") => None,
        Some(pager) => Some(pager.to_owned()),
    }
}

fn start(pager: &str, environment: &ProcessEnvironment) -> Option<Child> {
    // A shell is asked only where it is needed, so that a program that is missing is noticed.
    let plain = |c: char| c.is_alphanumeric() || " -_./+=,:".contains(c);
    let mut command = match pager.chars().all(plain) {
        true => {
            let mut words = pager.split_whitespace();
            let mut command = Command::new(words.next()?);
            command.args(words);
            command
        }
        false => {
            let mut command = Command::new("sh");
            command.args(["-c", pager]);
            command
        }
    };
    if environment.get("LESS").is_none() {
        command.env("LESS", LESS);
    }
    command.stdin(Stdio::piped()).spawn().ok()
}

fn through(mut child: Child, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    // An interrupt at the keyboard is for the pager: it stops a search, and does not end it.
    let interrupts = signal(SignalKind::interrupt());
    if let Some(pipe) = child.stdin.take() {
        let mut out = io::BufWriter::new(pipe);
        // Who has read enough closes the pipe.
        let _ = write(&mut out).and_then(|()| out.flush());
    }
    let _ = child.wait();
    drop(interrupts);
}
