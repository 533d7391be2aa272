//! Where the token of a host is kept, as Terraform has it: in a file of its own, or by a credentials helper.

use crate::cli_config;
use crate::failure::Failure;
use crate::session::Session;
use crate::whole_file::{self, Readers};
use language::diagnostics::Diagnostic;
use providers::services::{Credentials, CredentialsHelper, HostName, Token};
use serde_json::{Map, Value, json};
use std::fmt;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where the token of a host is kept, or would be.
pub(crate) struct StoredToken {
    host: HostName,
    /// The host as a person writes it.
    name: String,
    place: Place,
    /// Whether there is one, as far as that can be known.
    pub(crate) exists: bool,
}

enum Place {
    File(PathBuf),
    Helper(CredentialsHelper),
}

impl fmt::Display for StoredToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(path) => write!(f, "the file {}", path.display()),
            Place::Helper(helper) => write!(f, "the credentials helper {:?}", helper.name()),
        }
    }
}

impl StoredToken {
    /// Where the token of a host is kept.
    ///
    /// # Errors
    /// Where a person has written it into another file, the CLI configuration cannot be used, or there is no place.
    pub(crate) fn find(
        session: &Session,
        name: &str,
        command: &str,
    ) -> Result<StoredToken, Failure> {
        let host: HostName = name.parse().map_err(|_| {
            let detail =
                format!("{name:?} is not the name of a host, such as registry.example.com.");
            Failure::error("Invalid hostname", detail)
        })?;
        let environment = &session.environment;
        let directory = &session.directory.path;
        let Some(file) = cli_config::credentials_file(environment) else {
            let detail = "Tokens are kept below the home directory, which the environment variable HOME names. Set it.";
            return Err(Failure::error("No home directory", detail));
        };
        let knows = |path: &Path| {
            let read = cli_config::read_file(path, environment, directory)?;
            Ok::<_, Failure>(read.credentials.token(&host).is_some())
        };
        let in_file = knows(&file)?;
        if !in_file {
            for other in cli_config::files(environment) {
                if knows(&other)? {
                    return Err(written_by_hand(&host, &other, command));
                }
            }
        }
        let helper = session.cli_config()?.credentials_helper.filter(|_| !in_file);
        let helper = helper.map(|helper| cli_config::credentials_helper(helper, environment));
        if let Some(Err(missing)) = helper.as_ref().map(CredentialsHelper::program) {
            return Err(Failure::of("No credentials helper", &missing));
        }
        let name = name.to_lowercase();
        Ok(match helper {
            Some(helper) => StoredToken { host, name, place: Place::Helper(helper), exists: true },
            None => StoredToken { host, name, place: Place::File(file), exists: in_file },
        })
    }

    pub(crate) fn host(&self) -> &HostName {
        &self.host
    }

    /// What keeps a stored token from being used, to be said.
    pub(crate) fn objections(&self, session: &Session) -> Vec<Diagnostic> {
        let host = &self.host;
        let environment = &session.environment;
        let mut objections = Vec::new();
        let of_environment = Credentials::of_environment(environment.variables());
        if of_environment.token(host).is_some() {
            let detail = format!(
                "The environment has a token for {host} (TF_TOKEN_...), which counts more than what is stored."
            );
            objections.push(Diagnostic::warning("The stored token is not used", detail));
        }
        if let (Place::File(file), Some(named)) =
            (&self.place, environment.get("TF_CLI_CONFIG_FILE"))
            && Path::new(named) != file
        {
            let detail = format!(
                "The environment variable TF_CLI_CONFIG_FILE names {named}, so that {} is not read.",
                file.display()
            );
            objections.push(Diagnostic::warning("The stored token is not used", detail));
        }
        objections
    }

    /// Keeps a token.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub(crate) async fn store(&self, token: &Token) -> Result<(), Failure> {
        match &self.place {
            Place::File(path) => self.write(path, Some(token)),
            Place::Helper(helper) => {
                let stored = helper.store(&self.host, token).await;
                stored.map_err(|error| Failure::of("Failed to save API token", &error))
            }
        }
    }

    /// Forgets the token.
    ///
    /// # Errors
    /// Where it may still be kept.
    pub(crate) async fn forget(&self) -> Result<(), Failure> {
        match &self.place {
            Place::File(path) => self.write(path, None),
            Place::Helper(helper) => {
                let forgotten = helper.forget(&self.host).await;
                forgotten.map_err(|error| Failure::of("Failed to remove API token", &error))
            }
        }
    }

    /// Replaces the file whole. What it says of others stays.
    fn write(&self, path: &Path, token: Option<&Token>) -> Result<(), Failure> {
        let failed = |error: &dyn fmt::Display| {
            let detail = format!("The file {} could not be changed: {error}.", path.display());
            Failure::error("Failed to change stored credentials", detail)
        };
        let mut content: Map<String, Value> = match std::fs::read(path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(&error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Map::new(),
            Err(error) => return Err(failed(&error)),
        };
        let credentials = content.entry("credentials").or_insert_with(|| json!({}));
        let Some(credentials) = credentials.as_object_mut() else {
            return Err(failed(&"\"credentials\" in it is not an object"));
        };
        // However it is written there.
        credentials.retain(|name, _| name.parse::<HostName>().ok().as_ref() != Some(&self.host));
        if let Some(token) = token {
            credentials.insert(self.name.clone(), json!({ "token": token.reveal() }));
        }
        let text = serde_json::to_string_pretty(&content).map_err(|error| failed(&error))? + "\n";
        let folder = path.parent().unwrap_or(path);
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let written = made.and_then(|()| whole_file::write(path, text.as_bytes(), Readers::Owner));
        written.map_err(|error| failed(&error))
    }
}

fn written_by_hand(host: &HostName, file: &Path, command: &str) -> Failure {
    let detail = format!(
        "The token for {host} is in {}, which \"plumb {command}\" does not change. Change the credentials block there, or remove it and run this command again.",
        file.display()
    );
    Failure::error(format!("Credentials for {host} are manually configured"), detail)
}
