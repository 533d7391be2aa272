//! `TF_LOG`: what happens inside, for whoever looks for a fault.

use crate::environment::ProcessEnvironment;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Mutex;
use tracing::level_filters::LevelFilter;

/// Starts logging where it is asked for. A log that cannot be written is no reason not to work.
pub(crate) fn start(environment: &ProcessEnvironment) {
    let level = match environment.get("TF_LOG").map(str::to_uppercase).as_deref() {
        None | Some("OFF") => return,
        Some("DEBUG") => LevelFilter::DEBUG,
        Some("INFO") => LevelFilter::INFO,
        Some("WARN") => LevelFilter::WARN,
        Some("ERROR") => LevelFilter::ERROR,
        // As Terraform has it: TRACE, JSON, and whatever it does not know.
        Some(_) => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
    match environment.get("TF_LOG_PATH").and_then(|path| open(path).ok()) {
        Some(file) => log.with_writer(Mutex::new(file)).init(),
        None => log.with_writer(io::stderr).init(),
    }
}

/// A file for its owner alone: providers log what they like.
fn open(path: &str) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
