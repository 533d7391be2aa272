//! SIGINT and SIGTERM: the first asks to stop, the second stops.

use crate::reporter::Reporter;
use crate::terminal;
use engine::{Stop, StopLevel};
use rustix::process::Signal;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// What is said when a signal comes.
pub(crate) struct Words {
    first: &'static str,
    second: &'static str,
}

/// Of what changes an estate.
pub(crate) const CHANGES: Words = Words {
    first: "\nInterrupt received.\nPlease wait for plumb to exit: what is in flight is finished and recorded, and nothing new begins.\n\nGracefully shutting down...\n",
    second: "\nTwo interrupts received. Exiting immediately. Provider calls in flight were abandoned; the next plan reads again what they changed.\n",
};

/// Of tests, which are recorded nowhere.
pub(crate) const TESTS: Words = Words {
    first: "\nInterrupt received.\nPlease wait for plumb to exit: the run at work is finished, and what the tests have made is deleted.\n\nGracefully shutting down...\n",
    second: "\nTwo interrupts received. Exiting immediately. Provider calls in flight were abandoned, and what the tests have made is not deleted.\n",
};

/// Passes signals on for as long as the process lives.
pub(crate) fn listen(stop: Stop, reporter: Arc<Reporter>, words: Words) {
    tokio::spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        if let Ok(mut resumed) = signal(SignalKind::from_raw(Signal::CONT.as_raw())) {
            tokio::spawn(async move {
                while resumed.recv().await.is_some() {
                    terminal::continued();
                }
            });
        }
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            match stop.request() {
                StopLevel::Hard => reporter.say(words.second),
                _ => reporter.say(words.first),
            }
        }
    });
}
