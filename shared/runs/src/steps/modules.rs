//! Modules from elsewhere, installed into the bundle of a run.

use super::StepError;
use crate::bundle::{Bounds, BundleFile, BundleFiles, folder_files};
use crate::function_environment::{FunctionEnvironment, find_estate};
use crate::modules::{
    GitProgram, ModuleInstallObserver, ModuleInstaller, PackageSources, Reach, ReadyClients,
    S3ModuleObjects,
};
use engine::record::key::EstateName;
use language::diagnostics::Diagnostics;
use language::files::{Disk, FileSystem};
use language::module::{LoadOptions, ModuleManifest, ModuleSource, load, read_module};
use language::source::Sources;
use language::version::Version;
use providers::https::Https;
use providers::services::{Credentials, Services};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where modules go, in the root module's folder.
const FOLDER: &str = ".terraform/modules";
/// Variables that git is given: no credentials of the function are among them.
const GIT_VARIABLES: [&str; 6] =
    ["PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "GIT_EXEC_PATH"];

impl FunctionEnvironment {
    /// Where the modules of bundles come from: networks, with the tokens of registries that the environment's `TF_TOKEN_*` are.
    pub fn module_packages(&self, https: Arc<dyn Https>) -> PackageSources<'static> {
        let variables = self.variables.iter().map(|(name, value)| (&**name, &**value));
        let credentials = Credentials::of_environment(variables);
        let inherited = self
            .inherited
            .iter()
            .filter(|(name, _)| GIT_VARIABLES.iter().any(|known| name == known));
        PackageSources {
            clients: Box::new(ReadyClients {
                services: Arc::new(Services::new(https.clone(), credentials)),
                https,
            }),
            objects: Arc::new(S3ModuleObjects(self.surroundings.clone())),
            git: GitProgram::find(inherited.cloned().collect(), false),
            reach: Reach::Networks,
            bounds: Bounds::default(),
        }
    }
}

/// What installing had to say.
pub(super) struct Said {
    pub(super) diagnostics: Diagnostics,
    pub(super) sources: Arc<Sources>,
}

/// Installs what an estate's configuration calls from elsewhere, and takes it into the bundle's files. Does nothing where
/// all that is called is in the repository.
///
/// # Errors
/// Where files cannot be written or read, and where hosts do not answer, but may in a moment.
pub(super) async fn install(
    environment: &FunctionEnvironment,
    packages: &PackageSources<'_>,
    estate: &EstateName,
    files: &mut BundleFiles,
) -> Result<Said, StepError> {
    let root = environment.scratch.join("installing");
    let machine = |source: io::Error| StepError::Machine { what: "the modules' folder", source };
    let remove = || match std::fs::remove_dir_all(&root) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(machine(error)),
        _ => Ok(()),
    };
    remove()?;
    let done = install_in(&root, packages, estate, files).await;
    remove()?;
    done
}

async fn install_in(
    root: &Path,
    packages: &PackageSources<'_>,
    estate: &EstateName,
    files: &mut BundleFiles,
) -> Result<Said, StepError> {
    let sources = Arc::new(Sources::new());
    let mut said = Said { diagnostics: Diagnostics::new(), sources: sources.clone() };
    if !mentions_elsewhere(files) {
        return Ok(said);
    }
    files.write_to(root)?;
    let estate = find_estate(root.to_owned(), estate)?;
    let disk = Disk::new(estate.directory.clone());
    if !calls_elsewhere(&disk) {
        return Ok(said);
    }
    let (module, diagnostics) = read_module(&disk, Path::new(""), &sources);
    if diagnostics.has_errors() {
        // Whoever reads the bundle next says so.
        return Ok(said);
    }
    let installer = ModuleInstaller {
        files: &disk,
        root: &estate.directory,
        directory: Path::new(FOLDER),
        packages,
        upgrade: false,
    };
    let manifest = ModuleManifest::default();
    let installed = installer.install(Arc::new(module), &sources, manifest, &mut Unobserved).await;
    said.diagnostics = installed.diagnostics;
    if installed.may_pass {
        let errors = said.diagnostics.iter().filter(|said| said.is_error());
        let texts = errors.map(|error| format!("{}: {}", error.summary, error.detail));
        return Err(StepError::Modules(texts.collect::<Vec<_>>().join("\n")));
    }
    if said.diagnostics.has_errors() {
        return Ok(said);
    }
    let folder = estate.directory.strip_prefix(root).unwrap_or(Path::new("")).join(FOLDER);
    let mut found = match root.join(&folder) {
        fetched if fetched.is_dir() => folder_files(&fetched, Bounds::default())?,
        // Nothing was, where the only calls are in what cannot be read: whoever reads the bundle next says so.
        _ => Vec::new(),
    };
    let manifest = installed.manifest.to_json().into_bytes();
    found.push(("modules.json".into(), BundleFile { content: manifest.into(), executable: false }));
    let below = |path: PathBuf| folder.join(path).to_string_lossy().into_owned();
    files.extend(found.into_iter().map(|(path, file)| (below(path), file)));
    Ok(said)
}

/// Whether any file of configuration could call a module from elsewhere, so that it is worth the while to unpack all.
fn mentions_elsewhere(files: &BundleFiles) -> bool {
    let is_configuration = |path: &str| path.ends_with(".tf") || path.ends_with(".tf.json");
    let mentions = |content: &[u8]| content.windows(6).any(|word| word == b"module");
    files.iter().any(|(path, file)| is_configuration(path) && mentions(&file.content))
}

/// Whether a configuration calls anything but local paths.
fn calls_elsewhere(files: &dyn FileSystem) -> bool {
    let sources = Arc::new(Sources::new());
    let (configuration, _) = load(files, Path::new("."), sources, LoadOptions::default());
    configuration.modules().any(|node| {
        let mut calls = node.module.module_calls.values();
        calls.any(|call| {
            matches!(call.source, Some(ModuleSource::Registry(_) | ModuleSource::Remote(_)))
        })
    })
}

/// Nobody looks on: what was fetched is in the bundle.
struct Unobserved;

impl ModuleInstallObserver for Unobserved {
    fn downloading(&mut self, _key: &str, _package: &str, _version: Option<&Version>) {}
    fn installed(&mut self, _key: &str, _directory: &Path) {}
}
