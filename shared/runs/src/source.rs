//! Where a run's configuration comes from: a directory, or the bundle in a saved plan.

use bytes::Bytes;
use engine::existing_state::{ConfiguredBackend, ExistingFiles};
use engine::saved_plan::Bundle;
use language::diagnostics::Diagnostics;
use language::files::{DirectoryEntry, FileKind, FileSystem, Memory};
use language::module::{
    Configuration, InstalledModules, LoadOptions, ModuleManifest, ModuleNode, ModuleSource,
    Settings, Storage, load,
};
use language::source::Sources;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Name of the dependency lock file.
pub const LOCK_FILE: &str = providers::install::Locks::FILE;

/// A configuration with the files that it was read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// All modules.
    pub configuration: Arc<Configuration>,
    /// Every configuration file, and the lock file where there is one.
    pub bundle: Bundle,
    /// Where the root module says that its state is kept.
    pub backend: ConfiguredBackend,
}

/// Which modules may be used.
#[derive(Clone, Copy, Debug)]
pub enum Modules<'a> {
    /// Every local path.
    All,
    /// Those that were installed.
    Installed(&'a ModuleManifest),
}

/// Reads the configuration whose root module is where `files` resolves relative paths. With errors
/// it holds what could be understood.
pub fn from_directory(files: &dyn FileSystem, modules: Modules<'_>) -> (Source, Diagnostics) {
    let noting = Noting { files, read: Mutex::default() };
    let installed = match modules {
        Modules::All => InstalledModules::Local,
        Modules::Installed(manifest) => InstalledModules::Listed(manifest),
    };
    let (configuration, diagnostics) =
        load(&noting, Path::new("."), Arc::new(Sources::new()), LoadOptions { installed });
    let mut read = noting.read.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Ok(lock) = files.read(Path::new(LOCK_FILE)) {
        read.insert(LOCK_FILE.into(), lock.into());
    }
    if let Modules::Installed(manifest) = modules
        && configuration.modules().any(|node| !is_beside(node))
    {
        read.insert(ModuleManifest::PATH.into(), manifest.to_json().into());
    }
    let backend = configured_backend(&configuration.root.module.settings);
    let source =
        Source { configuration: Arc::new(configuration), bundle: Bundle { files: read }, backend };
    (source, diagnostics)
}

/// Whether a module is where a local path leads from the root module.
fn is_beside(node: &ModuleNode) -> bool {
    matches!(node.source, None | Some(ModuleSource::Local(_)))
}

/// Reads a configuration that was fetched with the modules that it calls from elsewhere: there is a manifest of them
/// where there are any.
pub fn from_fetched(files: &dyn FileSystem) -> (Source, Diagnostics) {
    let manifest = files.read(Path::new(ModuleManifest::PATH)).ok();
    match manifest.and_then(|text| ModuleManifest::parse(&text).ok()) {
        Some(manifest) => from_directory(files, Modules::Installed(&manifest)),
        None => from_directory(files, Modules::All),
    }
}

/// Reads the configuration that a plan carries. Files that its functions name are not in it.
pub fn from_bundle(bundle: &Bundle) -> (Source, Diagnostics) {
    let files: Memory =
        bundle.files.iter().map(|(path, content)| (&**path, content.to_vec())).collect();
    let (source, diagnostics) = from_fetched(&files);
    (Source { bundle: bundle.clone(), ..source }, diagnostics)
}

/// Where a root module says that its state is kept.
pub fn configured_backend(settings: &Settings) -> ConfiguredBackend {
    match &settings.storage {
        None => ConfiguredBackend::None,
        Some(Storage::Cloud(_)) => ConfiguredBackend::Cloud,
        Some(Storage::Backend(backend)) if &*backend.kind == "local" => {
            let path = backend.config.attributes.iter().find(|a| &*a.name == "path");
            let path = path.and_then(|a| a.expression.as_text());
            ConfiguredBackend::Local {
                path: path.map_or_else(|| "terraform.tfstate".to_owned(), ToString::to_string),
            }
        }
        Some(Storage::Backend(backend)) => {
            ConfiguredBackend::Remote { ty: backend.kind.to_string() }
        }
    }
}

/// A root module's folder, for the question whether state exists beside it.
pub struct RootFolder<'a>(pub &'a dyn FileSystem);

impl ExistingFiles for RootFolder<'_> {
    fn exists(&self, path: &str) -> io::Result<bool> {
        match self.0.kind(Path::new(path)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Notes every file that is read: what a bundle consists of.
struct Noting<'a> {
    files: &'a dyn FileSystem,
    read: Mutex<BTreeMap<Arc<str>, Bytes>>,
}

impl FileSystem for Noting<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = self.files.read(path)?;
        let name: PathBuf = path.strip_prefix(".").unwrap_or(path).into();
        let name = name.to_string_lossy().replace('\\', "/");
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(name.into(), content.clone().into());
        Ok(content)
    }
    fn read_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        self.files.read_directory(path)
    }
    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.files.kind(path)
    }
}
