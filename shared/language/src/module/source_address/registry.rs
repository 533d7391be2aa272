//! Addresses of modules in a registry: `[host/]namespace/name/system[//subdirectory]`.

use std::fmt;
use std::sync::Arc;

use super::{split_subdirectory, subdirectory};

/// The registry of addresses that name no host.
pub const DEFAULT_REGISTRY: &str = "registry.terraform.io";

const HOSTS_OF_REPOSITORIES: [&str; 2] = ["github.com", "bitbucket.org"];

/// A module of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegistryModule {
    /// The registry's host, with its port where it is not 443.
    pub host: Arc<str>,
    /// Whose module it is.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The system that it is for.
    pub system: Arc<str>,
    /// The path inside the package; empty for its top.
    pub subdirectory: Arc<str>,
}

impl RegistryModule {
    /// Reads an address.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn parse(text: &str) -> Result<RegistryModule, String> {
        let (address, inside) = split_subdirectory(text);
        let inside = subdirectory(&inside).map_err(|error| error.to_string())?;
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
        let reserved = host.unwrap_or(namespace);
        if HOSTS_OF_REPOSITORIES.contains(&reserved) {
            return Err(format!(
                "can't use \"{reserved}\" as a module registry host, because it's reserved for installing directly from version control repositories"
            ));
        }
        let host = match host {
            Some(host) => registry_host(host)?,
            None => DEFAULT_REGISTRY.to_owned(),
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
        if !is_system {
            return Err(format!(
                "invalid target system \"{system}\": must be between one and 64 ASCII letters or digits"
            ));
        }
        Ok(RegistryModule {
            host: host.into(),
            namespace: namespace.into(),
            name: name.into(),
            system: system.into(),
            subdirectory: inside.into(),
        })
    }

    /// The address without host and subdirectory, as the registry's protocol has it.
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.namespace, self.name, self.system)
    }

    /// The address without its subdirectory.
    pub fn package(&self) -> String {
        format!("{}/{}", self.host, self.path())
    }
}

impl fmt::Display for RegistryModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package())?;
        match self.subdirectory.is_empty() {
            true => Ok(()),
            false => write!(f, "//{}", self.subdirectory),
        }
    }
}

/// A host in its form for comparison.
fn registry_host(given: &str) -> Result<String, String> {
    let (name, port) = match given.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (given, None),
    };
    let valid = |label: &str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
            && !label.starts_with("xn--")
    };
    let port_number = port.map(str::parse::<u16>);
    if !name.split('.').all(valid) || matches!(port_number, Some(Err(_))) {
        return Err(format!(
            "invalid module registry hostname \"{given}\"; internationalized domain names must be given as direct unicode characters, not in punycode"
        ));
    }
    if !name.contains('.') {
        return Err("invalid module registry hostname: must contain at least one dot".to_owned());
    }
    let name = name.to_lowercase();
    Ok(match port_number {
        Some(Ok(port)) if port != 443 => format!("{name}:{port}"),
        _ => name,
    })
}

fn is_name(part: &str) -> bool {
    (1..=64).contains(&part.len())
        && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        && !part.starts_with(['-', '_'])
        && !part.ends_with(['-', '_'])
}
