//! The terminal that this process writes to, where lines change on it.

use crate::environment::ProcessEnvironment;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use views::live::{LiveTerminal, Painter, Size};
use views::{Clock, DEFAULT_WIDTH};

/// Standard output is one for the whole process, and so is what stands on it.
static LIVE: OnceLock<LiveTerminal> = OnceLock::new();

/// Whether a person follows, at a terminal that can move its cursor.
pub(crate) fn is_followed(environment: &ProcessEnvironment) -> bool {
    let terminal = io::stdout().is_terminal();
    let capable = environment.get("TERM").is_some_and(|term| term != "dumb");
    terminal && capable && !is_automated(environment) && environment.get("NO_COLOR").is_none()
}

/// Whether a program reads along, whatever standard output is.
pub(crate) fn is_automated(environment: &ProcessEnvironment) -> bool {
    environment.in_automation() || environment.get("CI").is_some()
}

/// Writes to the terminal from now on, with what `painter` makes below it.
pub(crate) fn follow(clock: Clock, painter: Painter) -> LiveTerminal {
    let live = LIVE.get_or_init(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if let Some(live) = LIVE.get() {
                live.try_clear();
            }
            before(panic);
        }));
        LiveTerminal::new(Box::new(io::stdout()), clock, Box::new(size), painter)
    });
    live.clone()
}

/// Columns and rows of standard output, where it is a terminal.
pub(crate) fn size() -> Size {
    let size = match io::stdout().is_terminal() {
        true => rustix::termios::tcgetwinsize(io::stdout()).ok(),
        false => None,
    };
    match size {
        Some(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { columns: size.ws_col.into(), rows: size.ws_row.into() }
        }
        _ => Size { columns: DEFAULT_WIDTH, rows: 24 },
    }
}

/// Writes to standard error, which is most often the same terminal.
pub(crate) fn write_error(text: &[u8]) {
    let write = || {
        let _ = io::stderr().write_all(text);
    };
    match LIVE.get() {
        Some(live) => live.without_frame(write),
        None => write(),
    }
}

/// Runs what asks a person, without lines that change meanwhile.
pub(crate) fn ask<T>(question: impl FnOnce() -> T) -> T {
    let Some(live) = LIVE.get() else { return question() };
    live.pause();
    let answer = question();
    live.resume();
    answer
}

/// The process was stopped and goes on: others have written meanwhile.
pub(crate) fn continued() {
    if let Some(live) = LIVE.get() {
        live.forget_frame();
    }
}

/// Nothing changes any more. What was said stays.
pub(crate) fn finish() {
    if let Some(live) = LIVE.get() {
        live.without_frame(|| ());
    }
}
