//! SIGINT and SIGTERM: the first asks to stop, the second stops.

use crate::reporter::Reporter;
use crate::terminal;
use engine::{Stop, StopLevel};
use rustix::process::Signal;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Passes signals on for as long as the process lives.
pub(crate) fn listen(stop: Stop, reporter: Arc<Reporter>) {
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
                StopLevel::Hard => reporter.say(
                    "\nTwo interrupts received. Exiting immediately. Provider calls in flight were abandoned; the \
                     next plan reads again what they changed.\n",
                ),
                _ => reporter.say(
                    "\nInterrupt received.\nPlease wait for plumb to exit: what is in flight is finished and \
                     recorded, and nothing new begins.\n\nGracefully shutting down...\n",
                ),
            }
        }
    });
}
