//! `TF_LOG`: what happens inside, for whoever looks for a fault.

use crate::environment::ProcessEnvironment;
use std::fs::OpenOptions;
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
    let file = environment
        .get("TF_LOG_PATH")
        .and_then(|path| OpenOptions::new().create(true).append(true).open(path).ok());
    match file {
        Some(file) => log.with_writer(Mutex::new(file)).init(),
        None => log.with_writer(std::io::stderr).init(),
    }
}
