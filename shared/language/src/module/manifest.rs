//! `.terraform/modules/modules.json`: which module calls are installed, and where.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use values::address::ModulePath;

use super::source_address::ModuleSource;
use crate::version::Version;

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
        for record in &mut manifest.records {
            // Written by another version, it may not be in normal form.
            if let Ok(source) = ModuleSource::parse(&record.source) {
                record.source = source.to_string();
            }
        }
        manifest.records.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(manifest)
    }

    /// As Terraform writes it.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
                }
                c => escaped.push(c),
            }
        }
        escaped
    }

    /// Takes a record in, in place of an older one of the same call.
    pub fn insert(&mut self, record: ModuleRecord) {
        match self.position(&record.key) {
            Ok(at) => self.records[at] = record,
            Err(at) => self.records.insert(at, record),
        }
    }

    /// Forgets a call, and all that is called from the module that it leads to.
    pub fn remove_with_descendants(&mut self, path: &ModulePath) {
        let key = module_key(path);
        let below = format!("{key}.");
        self.records.retain(|record| record.key != key && !record.key.starts_with(&below));
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.records.binary_search_by(|record| record.key.as_str().cmp(key))
    }

    /// The record of a module.
    pub fn get(&self, path: &ModulePath) -> Option<&ModuleRecord> {
        let at = self.position(&module_key(path)).ok()?;
        self.records.get(at)
    }

    /// All records, by key.
    pub fn records(&self) -> &[ModuleRecord] {
        &self.records
    }
}

impl ModuleRecord {
    /// The version that was installed; `None` where there is none or it is no version.
    pub fn installed_version(&self) -> Option<Version> {
        self.version.as_deref().and_then(|text| text.parse().ok())
    }
}

/// What a manifest calls a module: the names of the calls that lead to it, with dots between.
pub fn module_key(path: &ModulePath) -> String {
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
