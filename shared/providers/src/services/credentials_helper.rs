use super::{HostName, Token};
use language::version::Version;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// What names of helpers' programs begin with.
const PROGRAM: &str = "terraform-credentials-";
/// Bytes that a helper may say.
const LIMIT: u64 = 1 << 20;

/// Which helper is configured: a `credentials_helper` block of the CLI configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperSettings {
    /// Its name: that of its program begins with `terraform-credentials-`.
    pub name: String,
    /// What stands before what it is asked.
    pub args: Vec<String>,
}

/// A program that keeps tokens, asked and told by Terraform's protocol for such.
#[derive(Clone, Debug)]
pub struct CredentialsHelper {
    settings: HelperSettings,
    program: Option<PathBuf>,
    searched: Vec<PathBuf>,
    environment: Vec<(OsString, OsString)>,
}

/// A helper did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// There is no such program.
    #[error(
        "the credentials helper {name:?} is not installed: there is no program {prefix}{name} in {places}",
        prefix = PROGRAM, places = shown(.searched)
    )]
    NotInstalled {
        /// Its name.
        name: String,
        /// Where its program is looked for.
        searched: Vec<PathBuf>,
    },
    /// The program does not run.
    #[error("failed to run {}: {source}", .program.display())]
    Start {
        /// Its program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It says no.
    #[error("error in {}: {said}", .program.display())]
    Failed {
        /// Its program.
        program: PathBuf,
        /// What it says on its standard error.
        said: String,
    },
    /// Its answer cannot be understood. What it is may be a secret, and is not said.
    #[error("malformed output from {}: {detail}", .program.display())]
    Output {
        /// Its program.
        program: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
}

impl CredentialsHelper {
    /// The newest program of that name in these directories, those that come first counting more. It is started with this
    /// environment. Whether there is any says [`CredentialsHelper::program`].
    pub fn find(
        settings: HelperSettings,
        directories: Vec<PathBuf>,
        environment: Vec<(OsString, OsString)>,
    ) -> CredentialsHelper {
        let mut found: Option<(Option<Version>, PathBuf)> = None;
        for path in directories.iter().flat_map(|directory| files(directory)) {
            let Some(version) = version_of(&path, &settings.name) else { continue };
            if found.as_ref().is_none_or(|(other, _)| version > *other) {
                found = Some((version, path));
            }
        }
        let program = found.map(|(_, path)| path);
        CredentialsHelper { settings, program, searched: directories, environment }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Its program.
    ///
    /// # Errors
    /// Where there is none.
    pub fn program(&self) -> Result<&Path, HelperError> {
        let missing = || HelperError::NotInstalled {
            name: self.settings.name.clone(),
            searched: self.searched.clone(),
        };
        self.program.as_deref().ok_or_else(missing)
    }

    /// The token for a host, where it has one.
    ///
    /// # Errors
    /// Where it cannot say.
    pub async fn get(&self, host: &HostName) -> Result<Option<Token>, HelperError> {
        let said = self.run("get", host, None).await?;
        let detail = |error: serde_json::Error| self.malformed(error.to_string());
        let answer: Value = serde_json::from_slice(&said).map_err(detail)?;
        if !answer.is_object() {
            return Err(self.malformed("it is not a JSON object"));
        }
        Ok(answer["token"].as_str().map(Token::new))
    }

    /// Has it keep a token for a host.
    ///
    /// # Errors
    /// Where it does not.
    pub async fn store(&self, host: &HostName, token: &Token) -> Result<(), HelperError> {
        let token = json!({ "token": token.reveal() }).to_string();
        self.run("store", host, Some(token)).await.map(drop)
    }

    /// Has it forget the token for a host.
    ///
    /// # Errors
    /// Where it does not.
    pub async fn forget(&self, host: &HostName) -> Result<(), HelperError> {
        self.run("forget", host, None).await.map(drop)
    }

    fn malformed(&self, detail: impl Into<String>) -> HelperError {
        let program = self.program.clone().unwrap_or_default();
        HelperError::Output { program, detail: detail.into() }
    }

    /// What it says on its standard output.
    async fn run(
        &self,
        verb: &str,
        host: &HostName,
        input: Option<String>,
    ) -> Result<Vec<u8>, HelperError> {
        let program = self.program()?;
        let stdin = match input {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        };
        let child = Command::new(program)
            .args(&self.settings.args)
            .args([verb, host.as_str()])
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        let failed = |source| HelperError::Start { program: program.to_owned(), source };
        let mut child = child.map_err(failed)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tell = async {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // Whoever does not listen says in the end why.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let ((), said, complained) = tokio::join!(tell, all_of(stdout), all_of(stderr));
        let status: ExitStatus = child.wait().await.map_err(failed)?;
        let (said, complained) = (said.map_err(failed)?, complained.map_err(failed)?);
        // Whoever is not listened to any more may end in any way.
        if said.len() as u64 > LIMIT {
            return Err(self.malformed(format!("it is larger than {LIMIT} bytes")));
        }
        if !status.success() {
            let said = String::from_utf8_lossy(&complained).trim().to_owned();
            let said = match said.is_empty() {
                true => format!("it ended with {status} and no error message"),
                false => said,
            };
            return Err(HelperError::Failed { program: program.to_owned(), said });
        }
        Ok(said)
    }
}

/// What comes of a pipe, up to one byte more than may come.
async fn all_of(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(LIMIT + 1).read_to_end(&mut all).await?;
    }
    Ok(all)
}

/// The files of a directory, in the order of their names.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The version of a helper's program, where a file is one; the inner `None` where its name has none.
fn version_of(file: &Path, name: &str) -> Option<Option<Version>> {
    let file = file.file_name()?.to_str()?.to_lowercase();
    let rest = file.strip_prefix(PROGRAM)?.strip_prefix(&name.to_lowercase())?;
    match rest.strip_prefix("_v") {
        Some(version) => version.parse().ok().map(Some),
        None => rest.is_empty().then_some(None),
    }
}

fn shown(directories: &[PathBuf]) -> String {
    let names: Vec<String> = directories.iter().map(|d| d.display().to_string()).collect();
    names.join(" or ")
}
