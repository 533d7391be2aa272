//! What a module's `source` argument means.
//!
//! Nothing is asked of any network or file system here: an address is text, and its normal form is what the manifest of
//! installed modules carries.

mod registry;
mod remote;
mod url;

use std::fmt;
use std::sync::Arc;

pub use registry::{DEFAULT_REGISTRY, RegistryModule};
pub use remote::RemoteModule;

/// Where a child module's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// A path relative to the calling module, normalised: `./child`, `../other`.
    Local(Arc<str>),
    /// A module of a registry.
    Registry(RegistryModule),
    /// Anything that is fetched from elsewhere.
    Remote(RemoteModule),
}

/// Why a source address was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It looks like a local path without the `./` in front.
    #[error("no way of installing {package:?} is known")]
    MaybeRelative {
        /// The address without its subdirectory.
        package: String,
    },
    /// It is no address of any kind.
    #[error("{0}")]
    Other(String),
    /// With `version` it must be an address in a registry, and is not.
    #[error("{0}")]
    NotRegistry(String),
}

const LOCAL_PREFIXES: [&str; 4] = ["./", "../", ".\\", "..\\"];

impl ModuleSource {
    /// What an address without a `version` beside it means.
    ///
    /// # Errors
    /// Where it means nothing.
    pub fn parse(text: &str) -> Result<ModuleSource, SourceError> {
        if is_local(text) {
            return Ok(ModuleSource::Local(local(text).into()));
        }
        if text.trim().is_empty() {
            return Err(SourceError::Other("invalid source address: ".to_owned()));
        }
        // What is no address in a registry may still be one of another kind.
        match RegistryModule::parse(text) {
            Ok(module) => Ok(ModuleSource::Registry(module)),
            Err(_) => RemoteModule::parse(text).map(ModuleSource::Remote),
        }
    }

    /// What an address means beside a `version`, which only modules of a registry have.
    pub(super) fn parse_versioned(text: &str) -> Result<ModuleSource, SourceError> {
        if is_local(text) {
            return Err(SourceError::NotRegistry(format!(
                "can't use local directory \"{text}\" as a module registry address"
            )));
        }
        RegistryModule::parse(text).map(ModuleSource::Registry).map_err(SourceError::NotRegistry)
    }
}

/// The normal form, which manifests carry.
impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModuleSource::Local(path) => f.write_str(path),
            ModuleSource::Registry(module) => module.fmt(f),
            ModuleSource::Remote(module) => module.fmt(f),
        }
    }
}

fn is_local(text: &str) -> bool {
    LOCAL_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// A relative path in normal form, with `./` or `../` in front.
fn local(text: &str) -> String {
    let clean = clean(&text.replace('\\', "/"));
    match clean.starts_with("../") {
        true => clean,
        false => format!("./{clean}"),
    }
}

/// A path without `.`, without `..` that something stands before, and without doubled slashes; `.` where nothing is left.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// The address of a package, with its query, and the path after `//` inside it; empty where there is none.
fn split_subdirectory(text: &str) -> (String, String) {
    let (address, query) = match text.find('?') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let start = address.find("://").map_or(0, |at| at + 3);
    let inside = address.get(start..).and_then(|rest| rest.find("//")).map(|at| at + start);
    match inside {
        None => (text.to_owned(), String::new()),
        Some(at) => {
            let (package, subdirectory) = address.split_at(at);
            let subdirectory = subdirectory.strip_prefix("//").unwrap_or_default();
            (format!("{package}{query}"), subdirectory.to_owned())
        }
    }
}

/// The path inside a package in normal form.
fn subdirectory(path: &str) -> Result<String, SourceError> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let clean = clean(path);
    match clean == ".." || clean.starts_with("../") {
        true => Err(SourceError::Other(format!(
            "subdirectory path \"{clean}\" leads outside of the module package"
        ))),
        false => Ok(clean),
    }
}
