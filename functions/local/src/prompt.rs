//! Questions to a person.

use crate::terminal;
use engine::{Stop, StopLevel};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, BufRead, Write};
use tokio::signal::unix::{SignalKind, signal};

/// Asks at the terminal; the line that was entered, without blanks around it.
///
/// # Errors
/// Where nobody answers, or somebody asks to stop instead.
pub(crate) async fn ask(stop: &Stop, title: String, description: String) -> io::Result<String> {
    // A thread that waits for a line cannot be called back; the process ends without it.
    let asking = move || terminal::ask(|| ask_at_terminal(&title, &description));
    let line = tokio::task::spawn_blocking(asking);
    tokio::select! {
        answer = line => answer.unwrap_or_else(|error| Err(io::Error::other(error))),
        () = stop.reached(StopLevel::Graceful) => Err(io::ErrorKind::Interrupted.into()),
    }
}

/// As [`ask`], without showing what is entered.
///
/// # Errors
/// As [`ask`].
pub(crate) async fn ask_secret(stop: &Stop, title: String) -> io::Result<String> {
    // Listened to before anything is hidden: a process that a signal ends would leave its terminal so.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // Here and not where the line is waited for, so that it ends whatever becomes of the waiting.
    let _hidden = Hidden::begin();
    tokio::select! {
        answer = ask(stop, title, "What you enter is not shown.".to_owned()) => answer,
        _ = interrupt.recv() => Err(io::ErrorKind::Interrupted.into()),
        _ = terminate.recv() => Err(io::ErrorKind::Interrupted.into()),
    }
}

/// Until it is dropped, what is entered at the terminal is not shown.
struct Hidden(Termios);

impl Hidden {
    /// `None` where there is no terminal.
    fn begin() -> Option<Hidden> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden).ok()?;
        Some(Hidden(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing anyway.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

fn ask_at_terminal(title: &str, description: &str) -> io::Result<String> {
    let mut out = io::stdout().lock();
    writeln!(out, "{title}")?;
    for line in description.lines() {
        writeln!(out, "  {line}")?;
    }
    write!(out, "\n  Enter a value: ")?;
    out.flush()?;
    drop(out);
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    writeln!(io::stdout().lock())?;
    match read {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim().to_owned()),
    }
}
