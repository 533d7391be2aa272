use super::cli_config::{CliConfig, CliConfigSurroundings, MergeError};
use super::settings::InvalidSettings;
use crate::services::{HelperSettings, HostName, Token};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use std::collections::BTreeMap;

/// What a file that is JSON, and no CLI configuration, should be.
const FORM: &str = "a value is not of the form that it has in a CLI configuration: \"credentials\" maps hosts to objects with a \"token\" in quotes, \"host\" maps them to objects with \"services\", \"credentials_helper\" maps a name to an object with \"args\", \"plugin_cache_dir\" is a string, and plugin_cache_may_break_dependency_lock_file is true or false";

/// A CLI configuration in JSON: what `login` commands write are credentials.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    credentials: BTreeMap<String, HostCredentials>,
    #[serde(default)]
    credentials_helper: BTreeMap<String, HelperArguments>,
    #[serde(default)]
    host: BTreeMap<String, HostServices>,
    plugin_cache_dir: Option<String>,
    #[serde(default)]
    plugin_cache_may_break_dependency_lock_file: bool,
    provider_installation: Option<Value>,
}

#[derive(Deserialize)]
struct HostCredentials {
    token: Option<String>,
}

#[derive(Deserialize)]
struct HelperArguments {
    #[serde(default)]
    args: Vec<String>,
}

#[derive(Deserialize)]
struct HostServices {
    #[serde(default)]
    services: BTreeMap<String, String>,
}

pub(super) fn parse(
    name: &str,
    text: &[u8],
    surroundings: CliConfigSurroundings<'_>,
) -> Result<CliConfig, InvalidSettings> {
    let wrong = |line, detail: String| InvalidSettings { file: name.into(), line, detail };
    let file: File = serde_json::from_slice(text).map_err(|error| {
        let detail = match error.classify() {
            // What was found instead is not said: it may be a token.
            Category::Data => FORM.to_owned(),
            _ => error.to_string(),
        };
        wrong(u32::try_from(error.line()).unwrap_or(1), detail)
    })?;
    if file.provider_installation.is_some() {
        let detail = "provider_installation is not supported in JSON; write it into a file whose name ends with .tfrc";
        return Err(wrong(1, detail.into()));
    }
    let host = |text: &str| text.parse::<HostName>().map_err(|e| wrong(1, e.to_string()));
    let mut config = CliConfig {
        plugin_cache_dir: file.plugin_cache_dir.and_then(|path| surroundings.cache(&path)),
        plugin_cache_may_break_dependency_lock_file: file
            .plugin_cache_may_break_dependency_lock_file,
        ..CliConfig::default()
    };
    for (name, credentials) in file.credentials {
        if let Some(token) = credentials.token {
            config.credentials.insert(host(&name)?, Token::new(token));
        }
    }
    for (name, HelperArguments { args }) in file.credentials_helper {
        if config.credentials_helper.replace(HelperSettings { name, args }).is_some() {
            return Err(wrong(1, MergeError::TwoHelpers.to_string()));
        }
    }
    for (name, services) in file.host {
        config.hosts.insert(host(&name)?, services.services);
    }
    Ok(config)
}
