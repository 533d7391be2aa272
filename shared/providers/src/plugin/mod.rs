//! Providers that are programs: started, connected to, asked over gRPC, and ended.

mod client;
mod command;
mod connection;
mod handshake;
mod host;
mod output;
mod process;
mod provider;
mod running;
mod schemas;
mod tls;
pub mod watchdog;

pub use host::{PluginHost, PluginTimeouts};
pub use provider::PluginProvider;
pub use running::{InvalidRunningPlugins, RunningPlugin};
pub use tls::Identity;

use std::ffi::OsString;
use std::path::PathBuf;

/// A plugin's program.
#[derive(Clone, Debug)]
pub struct PluginCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments; usually none.
    pub args: Vec<OsString>,
}

impl PluginCommand {
    /// A program without arguments.
    pub fn new(program: impl Into<PathBuf>) -> PluginCommand {
        PluginCommand { program: program.into(), args: Vec::new() }
    }
}
