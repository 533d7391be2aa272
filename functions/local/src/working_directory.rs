//! The directory of a root module, and what is kept beside the configuration.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::whole_file::{self, Readers};
use language::files::{Disk, FileSystem};
use language::module::ModuleManifest;
use providers::install::{
    CliConfig, Installer, Locks, Network, PackageLimits, Platform, ProviderPackages,
};
use runs::source::{self, Modules, Source};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the store is, beside the configuration.
pub(crate) const STORE: &str = ".plumb";
/// Which workspace is selected, in the data directory.
const WORKSPACE: &str = "environment";
/// What Terraform notes of a backend, in the data directory.
const INITIALISED: &str = "terraform.tfstate";

/// The root module's directory.
pub(crate) struct WorkingDirectory {
    pub(crate) path: PathBuf,
    pub(crate) files: Arc<dyn FileSystem>,
    data: PathBuf,
    /// The same, as a person names it.
    data_name: PathBuf,
    home: Option<PathBuf>,
    implied_mirrors: Vec<PathBuf>,
}

fn unreadable(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::error(
        format!("Failed to read {what}"),
        format!("The file {} could not be read: {error}.", path.display()),
    )
}

impl WorkingDirectory {
    /// # Errors
    /// Where `directory` cannot be entered.
    pub(crate) fn enter(
        directory: Option<&Path>,
        environment: &ProcessEnvironment,
    ) -> Result<WorkingDirectory, Failure> {
        if let Some(directory) = directory {
            // Plugins work in the root module's directory, as Terraform has it.
            std::env::set_current_dir(directory).map_err(|error| {
                Failure::error(
                    "Error handling -chdir option",
                    format!("The directory {} cannot be entered: {error}.", directory.display()),
                )
            })?;
        }
        let path = std::env::current_dir().map_err(|error| {
            Failure::error("No working directory", format!("It cannot be found out: {error}."))
        })?;
        let home = environment.home();
        let mut implied_mirrors = vec![path.join("terraform.d/plugins")];
        implied_mirrors.extend(home.as_ref().map(|home| home.join(".terraform.d/plugins")));
        let data_home = environment.get("XDG_DATA_HOME").map(PathBuf::from);
        let data_home = data_home.or_else(|| home.as_ref().map(|home| home.join(".local/share")));
        implied_mirrors.extend(data_home.map(|data| data.join("terraform/plugins")));
        implied_mirrors.retain(|mirror| mirror.is_dir());
        Ok(WorkingDirectory {
            files: Arc::new(Disk::new(path.clone())),
            data: path.join(environment.get("TF_DATA_DIR").unwrap_or(".terraform")),
            data_name: environment.get("TF_DATA_DIR").unwrap_or(".terraform").into(),
            path,
            home,
            implied_mirrors,
        })
    }

    /// The workspace that was selected here, if one was.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub(crate) fn selected_workspace(&self) -> Result<Option<String>, Failure> {
        let path = self.data.join(WORKSPACE);
        match std::fs::read_to_string(&path) {
            Ok(name) => Ok(Some(name.trim().to_owned()).filter(|name| !name.is_empty())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable("the selected workspace", &path, &error)),
        }
    }

    /// Selects a workspace for all commands that follow.
    ///
    /// # Errors
    /// Where that cannot be written.
    pub(crate) fn select_workspace(&self, name: &str) -> Result<(), Failure> {
        write(&self.data.join(WORKSPACE), name.as_bytes())
    }

    /// What `terraform init` has noted of the backend, if it was run here.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub(crate) fn initialised_backend(&self) -> Result<Option<Vec<u8>>, Failure> {
        let path = self.data.join(INITIALISED);
        match std::fs::read(&path) {
            Ok(noted) => Ok(Some(noted)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable("what terraform init has noted", &path, &error)),
        }
    }

    /// The store's directory, where nothing else is configured.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join(STORE)
    }

    /// Keeps what is beside the configuration out of version control: it holds sensitive values and keys.
    pub(crate) fn ignore_store(&self) {
        let ignore = self.store().join(".gitignore");
        let wanted = self.store().is_dir() && !ignore.exists();
        if wanted && let Err(error) = std::fs::write(&ignore, "*\n") {
            tracing::warn!("{} could not be written: {error}", ignore.display());
        }
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn manifest_file(&self) -> PathBuf {
        self.data.join("modules/modules.json")
    }

    /// Where modules are installed, as manifests name it.
    pub(crate) fn modules(&self) -> PathBuf {
        self.data_name.join("modules")
    }

    /// # Errors
    /// Where the manifest cannot be read.
    pub(crate) fn manifest(&self) -> Result<ModuleManifest, Failure> {
        let path = self.manifest_file();
        match std::fs::read(&path) {
            Ok(text) => ModuleManifest::parse(&text).map_err(|error| {
                Failure::error(
                    "Failed to read module manifest",
                    format!("In {}: {error}.", path.display()),
                )
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(ModuleManifest::default()),
            Err(error) => Err(unreadable("module manifest", &path, &error)),
        }
    }

    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn write_manifest(&self, manifest: &ModuleManifest) -> Result<(), Failure> {
        write(&self.manifest_file(), manifest.to_json().as_bytes())
    }

    /// What is locked.
    ///
    /// # Errors
    /// Where the lock file cannot be read.
    pub(crate) fn locks(&self) -> Result<Locks, Failure> {
        let path = self.path.join(Locks::FILE);
        match std::fs::read(&path) {
            Ok(text) => Locks::parse(Locks::FILE, &text).map_err(|error| {
                Failure::error("Invalid dependency lock file", format!("{error}."))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Locks::default()),
            Err(error) => Err(unreadable("dependency lock file", &path, &error)),
        }
    }

    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn write_locks(&self, locks: &Locks) -> Result<(), Failure> {
        write(&self.path.join(Locks::FILE), locks.to_string().as_bytes())
    }

    /// Where installed packages are.
    pub(crate) fn package_directory(&self) -> PathBuf {
        self.data.join("providers")
    }

    /// What installs packages into a directory.
    pub(crate) fn installer(
        &self,
        config: CliConfig,
        directory: PathBuf,
        platform: Platform,
        network: Option<Network>,
    ) -> Installer {
        let implied_mirrors = self.implied_mirrors.clone();
        let limits = PackageLimits::default();
        Installer { config, implied_mirrors, directory, platform, network, limits }
    }

    pub(crate) fn packages(&self, config: CliConfig, locks: Locks) -> ProviderPackages {
        ProviderPackages {
            directory: self.package_directory(),
            platform: Platform::current(),
            locks,
            dev_overrides: config.dev_overrides,
            running: config.running,
        }
    }

    /// Whether there is any configuration.
    pub(crate) fn has_configuration(&self) -> bool {
        let entries = self.files.read_directory(Path::new(".")).unwrap_or_default();
        entries.iter().any(|entry| {
            let name = entry.name.to_string_lossy();
            !name.starts_with('.') && (name.ends_with(".tf") || name.ends_with(".tf.json"))
        })
    }

    /// The configuration with its installed modules.
    ///
    /// # Errors
    /// Where the manifest of modules cannot be read.
    pub(crate) fn load(&self) -> Result<(Source, language::diagnostics::Diagnostics), Failure> {
        let manifest = self.manifest()?;
        Ok(source::from_directory(&*self.files, Modules::Installed(&manifest)))
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let parent = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = parent.and_then(|()| whole_file::write(path, content, Readers::Everybody));
    written.map_err(|error| {
        Failure::error(
            "Failed to write file",
            format!("The file {} could not be written: {error}.", path.display()),
        )
    })
}
