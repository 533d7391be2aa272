//! Packages in git repositories, through the git program.

use super::address::PackageUrl;
use super::error::PackageError;
use super::packages::Reach;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Transports that submodules may name. A submodule that is a path on this machine would be chosen by somebody elsewhere.
const TRANSPORTS_OF_SUBMODULES: &str = "https:http:ssh:git";
/// Transports, redirections included, where addresses lead to networks alone.
const TRANSPORTS_OF_NETWORKS: &str = "https:ssh";
const TRANSPORTS: &str = "GIT_ALLOW_PROTOCOL";

/// The git program, and what it inherits.
#[derive(Clone, Debug)]
pub struct GitProgram {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    questions: bool,
}

/// Users of HTTPS that are this long are taken for tokens.
const SHORTEST_TOKEN: usize = 16;

impl GitProgram {
    /// Looks for git where an environment's `PATH` says. It inherits that environment, and asks for no user and password unless
    /// `questions` may be asked. `None` where there is no git.
    pub fn find(environment: Vec<(OsString, OsString)>, questions: bool) -> Option<GitProgram> {
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
        let program =
            std::env::split_paths(path?).map(|folder| folder.join("git")).find(|git| {
                fs::metadata(git)
                    .is_ok_and(|git| git.is_file() && git.permissions().mode() & 0o111 != 0)
            })?;
        Some(GitProgram { program, environment, questions })
    }

    fn command(&self, key: Option<&Path>) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        // Where they are set for the repository that we are in, they would lead git there.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
            command.env_remove(name);
        }
        if !self.questions {
            command.env("GIT_TERMINAL_PROMPT", "0");
        }
        if let Some(key) = key {
            let given = self.environment.iter().find(|(name, _)| name == "GIT_SSH_COMMAND");
            let mut ssh = given.map_or_else(|| OsString::from("ssh"), |(_, value)| value.clone());
            ssh.push(format!(" -i '{}'", key.display().to_string().replace('\'', "'\\''")));
            command.env("GIT_SSH_COMMAND", ssh);
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, mut command: Command, url: &PackageUrl) -> Result<(), PackageError> {
        let failed = |code: String, output: String| PackageError::Git {
            program: self.program.display().to_string(),
            code,
            output,
        };
        let output =
            command.output().await.map_err(|e| failed("an error".into(), e.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let code = output.status.code().map_or_else(|| "a signal".to_owned(), |c| c.to_string());
        let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Git leaves most of it out, and not everywhere.
        if let Some(user) = &url.user {
            text = text.replace(&format!("{user}@"), "***@");
        }
        for (name, value) in url.hidden_parameters() {
            text = text.replace(&format!("{name}={value}"), &format!("{name}=***"));
        }
        if let Some((user, password)) = url.credentials() {
            let is_token = user.len() >= SHORTEST_TOKEN && url.scheme != "ssh";
            let token = if is_token { user } else { String::new() };
            for secret in [password, token].iter().filter(|secret| !secret.is_empty()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        Err(failed(code, text))
    }

    /// Clones a repository with its submodules into a folder that does not exist, named by an absolute path, and checks out what the address asks for.
    ///
    /// # Errors
    /// Where git refuses, or would be made to do something else.
    pub(super) async fn clone(
        &self,
        url: &PackageUrl,
        to: &Path,
        reach: Reach,
    ) -> Result<(), PackageError> {
        let mut url = url.clone();
        let reference = url.take("ref").filter(|reference| !reference.is_empty());
        if let Some(value) = reference.clone().filter(|reference| reference.starts_with('-')) {
            return Err(PackageError::GitOption { what: "ref", value });
        }
        let depth = url.take("depth").and_then(|depth| depth.parse::<i64>().ok());
        let depth = depth.filter(|depth| *depth > 0).map(|depth| depth.to_string());
        let key = url.take("sshkey").filter(|key| !key.is_empty());
        let key = key.map(|key| KeyFile::write(&key, to)).transpose()?;
        let key = key.as_ref().map(|key| key.0.as_path());

        let mut clone = self.command(key);
        clone.args(["clone", "--quiet"]);
        if reach == Reach::Networks {
            clone.env(TRANSPORTS, TRANSPORTS_OF_NETWORKS);
        }
        if let Some(depth) = &depth {
            clone.args(["--depth", depth]);
            // Without a reference, what the server's HEAD names is what git takes.
            if let Some(reference) = &reference {
                clone.args(["--branch", reference]);
            }
        }
        clone.arg("--").arg(url.with_credentials()).arg(to);
        self.run(clone, &url).await.map_err(|error| shallow_commit(error, &reference, &depth))?;
        if let Some(reference) = reference.as_ref().filter(|_| depth.is_none()) {
            let mut checkout = self.command(None);
            checkout.current_dir(to).args(["checkout", "--quiet", reference, "--"]);
            self.run(checkout, &url).await?;
        }
        if to.join(".gitmodules").exists() {
            let mut update = self.command(key);
            let transports = match reach {
                Reach::Everything => TRANSPORTS_OF_SUBMODULES,
                Reach::Networks => TRANSPORTS_OF_NETWORKS,
            };
            update.env(TRANSPORTS, transports).current_dir(to);
            update.args(["submodule", "--quiet", "update", "--init", "--recursive"]);
            if let Some(depth) = &depth {
                update.args(["--depth", depth]);
            }
            self.run(update, &url).await?;
        }
        Ok(())
    }
}

/// Says why a commit cannot be had without the commits before it.
fn shallow_commit(
    error: PackageError,
    reference: &Option<String>,
    depth: &Option<String>,
) -> PackageError {
    let is_commit = |text: &String| {
        (7..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    match error {
        PackageError::Git { program, code, output }
            if depth.is_some() && reference.as_ref().is_some_and(is_commit) =>
        {
            let output = format!(
                "{output} (note that setting 'depth' requires 'ref' to be a branch or tag name)"
            );
            PackageError::Git { program, code, output }
        }
        error => error,
    }
}

/// A private key on disk for as long as git needs it.
struct KeyFile(PathBuf);

impl KeyFile {
    fn write(key: &str, beside: &Path) -> Result<KeyFile, PackageError> {
        // Spaces are what is left of plus signs that were not escaped.
        let key =
            STANDARD.decode(key.replace(' ', "+")).map_err(|_| PackageError::InvalidSshKey)?;
        let mut path = beside.as_os_str().to_owned();
        path.push(OsStr::new(".key"));
        let kept = KeyFile(PathBuf::from(path));
        let path = &kept.0;
        let _ = fs::remove_file(path);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let written = file.and_then(|mut file| file.write_all(&key));
        written
            .map_err(|source| PackageError::Files { path: path.display().to_string(), source })?;
        Ok(kept)
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
