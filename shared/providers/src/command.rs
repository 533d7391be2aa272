//! Commands that provisioners run: what runs them is handed in, as providers are.

use async_trait::async_trait;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

/// A program with all that it is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// A path, or a name that is looked for in the folders of `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it starts.
    pub directory: PathBuf,
    /// Variables beside those that it inherits, over which they win.
    pub environment: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// A command was not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is no such program.
    #[error("exec: {}: executable file not found in $PATH", values::quote::quoted(.program))]
    NotFound {
        /// As it was named.
        program: String,
    },
    /// There is no such file.
    #[error("{program}: no such file or directory")]
    NoFile {
        /// As it was named.
        program: String,
    },
    /// It would start nowhere.
    #[error("chdir {}: no such file or directory", .directory.display())]
    NoDirectory {
        /// Where it was to start.
        directory: PathBuf,
    },
    /// The machine could not start it.
    #[error("it could not be started: {detail}")]
    Spawn {
        /// What the machine says.
        detail: String,
    },
}

/// What a command is told by: completes when it is to be ended.
pub type StopSignal<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What a line of output is handed to.
pub type ShowLine<'a> = &'a (dyn Fn(&str) + Send + Sync + 'a);

/// Runs commands.
#[async_trait]
pub trait Commands: Send + Sync {
    /// Runs a command to its end, without anything to read. Each line that it writes to its standard output or error goes to
    /// `output` as it comes; what does not end a line does so after a moment. What it has left running when it ends by
    /// itself stays, as with a shell. Once `stop` completes, or this future is dropped, or this process dies, it is
    /// killed with all that it has started in its process group.
    ///
    /// # Errors
    /// Where it was not started: nothing has been done then.
    async fn run(
        &self,
        command: &CommandRequest,
        output: ShowLine<'_>,
        stop: StopSignal<'_>,
    ) -> Result<CommandEnd, CommandError>;
}
