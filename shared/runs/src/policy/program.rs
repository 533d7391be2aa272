//! Running a policy's program: with the plan on its standard input, for a bounded time, with a bounded answer.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Bytes of what it writes.
const OUTPUT: u64 = 1 << 20;
/// Bytes that are kept of what it complains of; the rest is read, and lost.
const COMPLAINT: usize = 8 << 10;

/// A program, ready to be run.
pub(super) struct Program<'a> {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) directory: &'a Path,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) time: Duration,
}

/// What a program came to.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) ended: Ended,
    pub(super) output: Vec<u8>,
    pub(super) complaint: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Code(i32),
    Signal,
}

/// A program came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProgramError {
    #[error("the plan cannot be written for it: {0}")]
    Input(io::Error),
    #[error("{program} cannot be run: {cause}")]
    Start { program: String, cause: io::Error },
    #[error("it did not end within {0} seconds")]
    Late(u64),
    #[error("it writes more than {OUTPUT} bytes")]
    TooMuch,
    #[error("its answer cannot be read: {0}")]
    Read(io::Error),
}

/// Ends a program with all that it has started, whatever becomes of us.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Nobody may be left.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Program<'_> {
    pub(super) async fn run(self, input: Vec<u8>) -> Result<Ran, ProgramError> {
        let program = self.program.clone();
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .current_dir(self.directory)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|cause| ProgramError::Start { program, cause })?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        let _group = Group(leader.and_then(Pid::from_raw));
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // One that has seen enough closes its end.
                let _ = stdin.write_all(&input).await;
            }
            Ok(())
        };
        let output = async {
            let mut output = Vec::new();
            if let Some(stdout) = stdout {
                let read = stdout.take(OUTPUT + 1).read_to_end(&mut output).await;
                read.map_err(ProgramError::Read)?;
            }
            match output.len() as u64 > OUTPUT {
                true => Err(ProgramError::TooMuch),
                false => Ok(output),
            }
        };
        let complaint = async {
            match stderr {
                Some(stderr) => beginning(stderr).await.map_err(ProgramError::Read),
                None => Ok(Vec::new()),
            }
        };
        let whole = async {
            let ((), output, complaint) = tokio::try_join!(feed, output, complaint)?;
            let status = child.wait().await.map_err(ProgramError::Read)?;
            let ended = status.code().map_or(Ended::Signal, Ended::Code);
            Ok(Ran { ended, output, complaint })
        };
        let whole = tokio::time::timeout(self.time, whole).await;
        whole.map_err(|_| ProgramError::Late(self.time.as_secs()))?
    }
}

/// The beginning of what somebody writes, all of which is read.
async fn beginning(mut from: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let (mut kept, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let length = from.read(&mut part).await?;
        if length == 0 {
            return Ok(kept);
        }
        let room = COMPLAINT.saturating_sub(kept.len()).min(length);
        kept.extend_from_slice(&part[..room]);
    }
}
