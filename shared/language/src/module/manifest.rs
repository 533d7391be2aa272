//! `.terraform/modules/modules.json`: which module calls are installed, and where.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use values::address::ModulePath;

use super::tree::Configuration;

/// The installed modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleManifest {
    #[serde(rename = "Modules")]
    records: Vec<ModuleRecord>,
}

/// One installed module call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleRecord {
    /// Names of the calls that lead to the module, with dots between; empty for the root.
    #[serde(rename = "Key")]
    pub key: String,
    /// The source address that was installed.
    #[serde(rename = "Source")]
    pub source: String,
    /// The version that was installed, for modules of a registry.
    #[serde(rename = "Version", default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where the files are, relative to the root module.
    #[serde(rename = "Dir")]
    pub directory: PathBuf,
}

/// The manifest is not what Terraform writes.
#[derive(Debug, thiserror::Error)]
#[error("the manifest of installed modules cannot be read ({0}); `init` writes it anew")]
pub struct ManifestError(#[from] serde_json::Error);

impl ModuleManifest {
    /// Where the manifest is, relative to the root module (or in a data directory of its own).
    pub const PATH: &str = ".terraform/modules/modules.json";

    /// Reads a manifest.
    ///
    /// # Errors
    /// Where the text is not one.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestError> {
        let mut manifest: Self = serde_json::from_slice(text)?;
        manifest.records.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(manifest)
    }

    /// The manifest of a configuration whose modules are all local paths.
    pub fn of(configuration: &Configuration) -> Self {
        let mut records: Vec<ModuleRecord> = configuration
            .modules()
            .map(|node| ModuleRecord {
                key: key(&node.path),
                source: node.source.as_ref().map(ToString::to_string).unwrap_or_default(),
                version: None,
                directory: match node.module.directory.as_os_str().is_empty() {
                    true => ".".into(),
                    false => node.module.directory.clone(),
                },
            })
            .collect();
        records.sort_by(|a, b| a.key.cmp(&b.key));
        Self { records }
    }

    /// As Terraform writes it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The record of a module.
    pub fn get(&self, path: &ModulePath) -> Option<&ModuleRecord> {
        let key = key(path);
        let at = self.records.binary_search_by(|record| record.key.cmp(&key)).ok()?;
        self.records.get(at)
    }

    /// All records, by key.
    pub fn records(&self) -> &[ModuleRecord] {
        &self.records
    }
}

fn key(path: &ModulePath) -> String {
    path.0.iter().map(|name| &**name).collect::<Vec<_>>().join(".")
}

/// A directory and a path from it, with `.` and `..` resolved by name.
pub(super) fn join(directory: &Path, relative: &str) -> PathBuf {
    use std::path::Component;
    let mut joined = PathBuf::new();
    for component in directory.join(relative.replace('\\', "/")).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(joined.components().next_back(), Some(Component::Normal(_))) =>
            {
                joined.pop();
            }
            other => joined.push(other),
        }
    }
    joined
}
