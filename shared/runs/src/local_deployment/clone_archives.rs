//! Commits of clones on this machine.

use crate::deployment::Deployment;
use crate::run_state::Commit;
use crate::steps::{ArchiveError, SourceArchives};
use async_trait::async_trait;
use bytes::Bytes;
use std::ffi::OsString;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// What the API of a repository begins with that is a clone.
const SCHEME: &str = "file://";
/// Bytes of what git says against it.
const COMPLAINT: u64 = 4 << 10;

/// Archives of repositories whose `api` is a folder, as `file:///home/ada/infrastructure`: by git. All others are asked of their
/// hosts.
pub struct CloneArchives<'a> {
    /// Which repositories there are.
    pub deployment: &'a Deployment,
    /// What git inherits.
    pub environment: Vec<(OsString, OsString)>,
    /// Hosts of the others.
    pub hosts: &'a dyn SourceArchives,
}

#[async_trait]
impl SourceArchives for CloneArchives<'_> {
    async fn archive(&self, commit: &Commit, limit: u64) -> Result<Bytes, ArchiveError> {
        let table = self.deployment.repositories.get(&commit.repository);
        let api = table.and_then(|table| table.api.as_deref()).unwrap_or_default();
        match api.strip_prefix(SCHEME) {
            Some(folder) => self.archived(folder, commit, limit).await,
            None => self.hosts.archive(commit, limit).await,
        }
    }
}

impl CloneArchives<'_> {
    async fn archived(
        &self,
        folder: &str,
        commit: &Commit,
        limit: u64,
    ) -> Result<Bytes, ArchiveError> {
        let failed = |problem: String| ArchiveError {
            repository: commit.repository.clone(),
            commit: commit.sha.clone(),
            problem,
            may_pass: false,
        };
        if commit.sha.starts_with('-') {
            return Err(failed("it is no name of a commit".to_owned()));
        }
        let io = |error: std::io::Error| failed(format!("git cannot be run: {error}"));
        let mut git = Command::new("git")
            .args([
                "-C",
                folder,
                "archive",
                "--format=tar.gz",
                "--prefix=source/",
                commit.sha.as_str(),
            ])
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(io)?;
        let (Some(archive), Some(complaint)) = (git.stdout.take(), git.stderr.take()) else {
            return Err(failed("git has no output".to_owned()));
        };
        // What is not read to its end is closed, so that git ends.
        let (mut archive, mut complaint) = (archive.take(limit + 1), complaint.take(COMPLAINT));
        let archive = async move {
            let mut content = Vec::new();
            archive.read_to_end(&mut content).await.map(|_| content)
        };
        let complaint = async move {
            let mut said = Vec::new();
            complaint.read_to_end(&mut said).await.map(|_| said)
        };
        let (content, said) = tokio::try_join!(archive, complaint).map_err(io)?;
        if content.len() as u64 > limit {
            return Err(failed(format!(
                "it has more than {limit} bytes, which are held in memory"
            )));
        }
        match git.wait().await.map_err(io)? {
            ended if ended.success() => Ok(content.into()),
            _ => Err(failed(format!("git says: {}", String::from_utf8_lossy(&said).trim()))),
        }
    }
}
