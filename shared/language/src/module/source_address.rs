//! What a module's `source` argument means.

use super::module_call::ModuleSource;

/// Why a source address was refused.
pub(super) enum SourceError {
    /// It looks like a local path without the `./` in front.
    MaybeRelative,
    /// It is no address of any kind.
    Other(String),
    /// With `version` it must be an address in a registry, and is not.
    NotRegistry(String),
}

const HOSTS_OF_REPOSITORIES: [&str; 2] = ["github.com", "bitbucket.org"];

pub(super) fn parse(text: &str, with_version: bool) -> Result<ModuleSource, SourceError> {
    let is_local = ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix));
    if with_version {
        if is_local {
            return Err(SourceError::NotRegistry(format!(
                "can't use local directory \"{text}\" as a module registry address"
            )));
        }
        return registry(text)
            .map(|()| ModuleSource::Registry(text.into()))
            .map_err(SourceError::NotRegistry);
    }
    if is_local || text == "." || text == ".." {
        return Ok(ModuleSource::Local(clean_local(text).into()));
    }
    if text.trim().is_empty() {
        return Err(SourceError::Other("invalid source address: ".to_owned()));
    }
    if let Some(subdirectory) = subdirectory(text)
        && leads_outside(subdirectory)
    {
        return Err(SourceError::Other(format!(
            "subdirectory path \"{subdirectory}\" leads outside of the module package"
        )));
    }
    if registry(text).is_ok() {
        return Ok(ModuleSource::Registry(text.into()));
    }
    let host = text.split('/').next().unwrap_or_default();
    let is_remote = text.contains("::")
        || text.contains("://")
        || text.starts_with('/')
        || text.starts_with("git@")
        || (HOSTS_OF_REPOSITORIES.contains(&host) && text.contains('/'))
        || host.ends_with(".amazonaws.com")
        || text.starts_with("www.googleapis.com/storage")
        || matches!(text.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic());
    match is_remote {
        true => Ok(ModuleSource::Remote(text.into())),
        false => Err(SourceError::MaybeRelative),
    }
}

/// What stands after `//`, but not the `//` of a URL's scheme.
fn subdirectory(text: &str) -> Option<&str> {
    let start = text.find("://").map_or(0, |at| at + 3);
    let (_, subdirectory) = text.get(start..)?.split_once("//")?;
    Some(subdirectory)
}

fn leads_outside(path: &str) -> bool {
    let mut depth = 0_i32;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// Whether a text is `[host/]namespace/name/system[//subdirectory]`, or why not.
fn registry(text: &str) -> Result<(), String> {
    let address = match subdirectory(text) {
        Some(path) => text.get(..text.len() - path.len() - 2).unwrap_or(text),
        None => text,
    };
    let parts: Vec<&str> = address.split('/').collect();
    let (host, [namespace, name, system]) = match *parts.as_slice() {
        [namespace, name, system] => (None, [namespace, name, system]),
        [host, namespace, name, system] => (Some(host), [namespace, name, system]),
        _ => {
            return Err(
                "a module registry source address must have either three or four slash-separated components"
                    .to_owned(),
            );
        }
    };
    if let Some(host) = host {
        if HOSTS_OF_REPOSITORIES.contains(&host) {
            return Err(format!(
                "can't use \"{host}\" as a module registry host, because it's reserved for installing directly from version control repositories"
            ));
        }
        let valid = |c: char| c.is_alphanumeric() || ".-:".contains(c);
        if !host.contains('.') && host != "localhost" || !host.chars().all(valid) {
            return Err(format!(
                "invalid module registry hostname \"{host}\"; internationalized domain names must be given as direct unicode characters, not in punycode"
            ));
        }
    } else if HOSTS_OF_REPOSITORIES.contains(&namespace) {
        return Err(format!(
            "can't use \"{namespace}\" as a module registry host, because it's reserved for installing directly from version control repositories"
        ));
    }
    let is_name = |part: &str| {
        (1..=64).contains(&part.len())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
            && !part.starts_with(['-', '_'])
            && !part.ends_with(['-', '_'])
    };
    for (what, part) in [("namespace", namespace), ("module name", name)] {
        if !is_name(part) {
            return Err(format!(
                "invalid {what} \"{part}\": must be between one and 64 characters, including ASCII letters, digits, dashes, and underscores, where dashes and underscores may not be the prefix or suffix"
            ));
        }
    }
    let is_system = (1..=64).contains(&system.len())
        && system.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    match is_system {
        true => Ok(()),
        false => Err(format!(
            "invalid target system \"{system}\": must be between one and 64 ASCII letters or digits"
        )),
    }
}

/// A relative path without `.` and `..` inside, with `./` or `../` in front.
fn clean_local(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match joined.as_str() {
        "" => "./".to_owned(),
        _ if parts.first() == Some(&"..") => joined,
        _ => format!("./{joined}"),
    }
}
