//! What every function begins with: stores, key, configuration and providers, opened from the deployment's environment and a
//! bundle. The only such path, so that functions cannot differ in it.

use crate::artifact::{self, ArtifactError, ArtifactReference};
use crate::bundle::{ArchiveLayout, Bounds, BundleError, BundleFiles, BundleFolder};
use crate::deployment::{self, Deployment, DeploymentError};
use crate::deployment_stores::DeploymentStores;
use crate::key_file::{self, KeyFileError};
use crate::kms_key::KmsKey;
use crate::local_deployment::{Handover, LocalDeployment};
use crate::plan_key::PlanKey;
use crate::project::{self, EstateTable, Project, ProjectError, StoreTable};
use crate::provider_mirror::{self, MirrorError, PackageFolder};
use crate::remote_state::{KnownEstates, StateFiles};
use crate::run_state::RunStates;
use crate::stores::{Places, StoreSurroundings, Stores, StoresError};
use crate::terraform_backend::BackendReader;
use crate::workplace::{Workplace, locked_providers};
use engine::Environment;
use engine::clock::Clock;
use engine::estate::{Estate, EstateError};
use engine::hooks::Hook;
use engine::random::Random;
use engine::record::key::EstateName;
use language::files::{Disk, FileSystem};
use providers::builtin::BuiltinProvider;
use providers::https::HttpsClient;
use providers::install::Locks;
use providers::plugin::watchdog::WatchdogCommand;
use providers::plugin::{PluginHost, PluginTimeouts};
use providers::{InstalledProviders, SchemaCache};
use records::{ArtifactStore, Key, Opening};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// How many instances are worked on at once.
const PARALLELISM: usize = 10;
/// How many bundles stay unpacked.
const BUNDLES: usize = 4;
/// Where a directory keeps records by default. A bundle has none.
const STORE: &str = ".plumb";
/// The one workspace there is.
const WORKSPACE: &str = "default";

/// What the process gives to a function.
pub struct FunctionEnvironment {
    /// The environment's variables. Those that start with `PLUMB__` say where the stores are and which key authenticates plans.
    pub variables: BTreeMap<String, String>,
    /// What providers inherit.
    pub inherited: Vec<(OsString, OsString)>,
    /// How this program watches over providers.
    pub watchdog: WatchdogCommand,
    /// Where there is room for bundles and packages: it may be empty after any invocation.
    pub scratch: PathBuf,
    /// Bytes that packages of providers may take there.
    pub package_room: u64,
    /// Clients of clouds and clusters.
    pub surroundings: Arc<dyn StoreSurroundings>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Schemas by the hash of their provider, from earlier invocations.
    pub schemas: Arc<SchemaCache>,
    /// The deployment, where it is on this machine; else the variables name it.
    pub local: Option<LocalDeployment>,
    /// Has what is at work left to others.
    pub handover: Handover,
}

/// A function cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionEnvironmentError {
    /// The environment's settings cannot be used.
    #[error("the environment of the function: {0}")]
    Environment(#[source] ProjectError),
    /// The bundle's `plumb.toml` cannot be used.
    #[error("plumb.toml in the bundle: {0}")]
    Project(#[source] ProjectError),
    /// The bundle has none, or it has no such estate.
    #[error(
        "{file} in the bundle has no estate {estate:?}, so that its directory is not known; add [estates.{estate}] to the \
         repository's {file}",
        file = project::FILE
    )]
    NoEstate {
        /// The estate.
        estate: String,
    },
    /// The deployment has no settings, or wrong ones.
    #[error("{object}: {0}", object = deployment::OBJECT)]
    Deployment(#[from] DeploymentError),
    /// The deployment has no settings.
    #[error(
        "there is no {object} in {location}; put it there, since it says who may do what",
        object = deployment::OBJECT
    )]
    NoDeployment {
        /// Where it was looked for.
        location: String,
    },
    /// No key authenticates plans.
    #[error(
        "the environment of the function names no key: set PLUMB__PLANS__HMAC_KEY to an HMAC key of AWS KMS, since a key in a file \
         would be gone with the function"
    )]
    NoKey,
    /// The key file cannot be used.
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    /// Stores cannot be opened.
    #[error(transparent)]
    Stores(#[from] StoresError),
    /// The estate cannot be opened.
    #[error(transparent)]
    Estate(#[from] EstateError),
    /// What another function handed on cannot be read.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The bundle cannot be unpacked.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Providers cannot be had.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// The lock file cannot be read.
    #[error("the dependency lock file: {0}")]
    Locks(String),
}

/// A bundle on disk, with the estate in it that a run is about.
#[derive(Clone, Debug)]
pub struct OpenBundle {
    /// The repository's top.
    pub root: PathBuf,
    /// The root module's folder.
    pub directory: PathBuf,
    /// All estates that its `plumb.toml` names, whose outputs this one may read.
    pub estates: BTreeMap<String, EstateTable>,
    /// What `plumb.toml` says of the estate.
    pub settings: EstateTable,
    /// What is locked.
    pub locks: Locks,
}

impl OpenBundle {
    /// The root module's files.
    pub fn files(&self) -> Arc<dyn FileSystem> {
        Arc::new(Disk::new(self.directory.clone()))
    }
}

impl FunctionEnvironment {
    /// The stores, the key and the policies that the deployment was made with. No bundle changes them.
    ///
    /// # Errors
    /// Where the environment says something that cannot be.
    pub fn project(&self) -> Result<Project, FunctionEnvironmentError> {
        if let Some(local) = &self.local {
            return Ok(local.project.clone());
        }
        let variables = self.variables.iter().map(|(name, value)| (&**name, &**value));
        Project::parse("", variables).map_err(FunctionEnvironmentError::Environment)
    }

    fn deployment_stores<'a>(&'a self, project: &'a Project) -> DeploymentStores<'a> {
        let root = match (&self.local, &project.store) {
            (Some(local), _) => Some(local.root()),
            (None, StoreTable::Dir(table)) => table.path.as_deref().and_then(|path| path.parent()),
            (None, _) => None,
        };
        DeploymentStores {
            project,
            root: root.unwrap_or(&self.scratch),
            surroundings: &*self.surroundings,
        }
    }

    /// The states of runs.
    ///
    /// # Errors
    /// Where the store cannot be opened.
    pub async fn run_states(&self) -> Result<RunStates, FunctionEnvironmentError> {
        let store = self.deployment_stores(&self.project()?).runs().await?;
        Ok(RunStates::new(store, self.clock.clone(), self.random.clone()))
    }

    /// Who may do what.
    ///
    /// # Errors
    /// Where the settings are missing or wrong.
    pub async fn deployment(&self) -> Result<Deployment, FunctionEnvironmentError> {
        if let Some(local) = &self.local {
            let path = local.settings();
            let location = path.display().to_string();
            let content = tokio::fs::read_to_string(&path).await;
            let content =
                content.map_err(|_| FunctionEnvironmentError::NoDeployment { location })?;
            return Ok(Deployment::parse(&content)?);
        }
        let store = self.deployment_stores(&self.project()?).settings().await?;
        let key = Key::new(deployment::OBJECT).map_err(ArtifactError::from)?;
        let content = store.get(&key).await.map_err(ArtifactError::from)?;
        let content = content
            .ok_or_else(|| FunctionEnvironmentError::NoDeployment { location: store.location() })?;
        Ok(Deployment::parse(&String::from_utf8_lossy(&content))?)
    }

    /// The stores of an estate.
    ///
    /// # Errors
    /// Where they cannot be opened.
    pub async fn stores(&self, estate: &EstateName) -> Result<Stores, FunctionEnvironmentError> {
        let project = self.project()?;
        let places = Places { root: &self.scratch, beside: &self.scratch };
        let surroundings = &*self.surroundings;
        Ok(Stores::open(&project, estate, places, Opening::Create, surroundings).await?)
    }

    /// The key that authenticates plans: of AWS KMS, or a file where the store is a directory.
    ///
    /// # Errors
    /// Where none is named and the store is shared, or the file cannot be used.
    pub async fn key(&self) -> Result<PlanKey, FunctionEnvironmentError> {
        let project = self.project()?;
        match (&project.plans.hmac_key, &project.store) {
            (Some(key), _) => Ok(PlanKey::Kms(KmsKey::of(&self.surroundings.aws(None).await, key))),
            (None, StoreTable::Dir(_)) => {
                let root = self.deployment_stores(&project).root.join("key");
                Ok(PlanKey::File(key_file::open(&root, &*self.random)?))
            }
            (None, _) => Err(FunctionEnvironmentError::NoKey),
        }
    }

    /// Unpacks a bundle, unless an earlier invocation has, and finds the estate in it.
    ///
    /// # Errors
    /// Where it is gone or altered, or does not have the estate.
    pub async fn open_bundle(
        &self,
        artifacts: &dyn ArtifactStore,
        reference: &ArtifactReference,
        estate: &EstateName,
    ) -> Result<OpenBundle, FunctionEnvironmentError> {
        let folder = BundleFolder::new(self.scratch.join("bundles"), BUNDLES);
        if let Some(root) = folder.find(&reference.digest) {
            return find_estate(root, estate);
        }
        let archive = artifact::get(artifacts, reference).await?;
        let files = BundleFiles::from_archive(&*archive, ArchiveLayout::Stored, Bounds::default())?;
        find_estate(folder.unpack(&reference.digest, &files)?, estate)
    }

    /// Everything that a handler needs.
    ///
    /// # Errors
    /// Where stores or providers cannot be had.
    pub async fn workplace(
        &self,
        estate: &EstateName,
        stores: &Stores,
        bundle: &OpenBundle,
        hooks: Vec<Arc<dyn Hook>>,
    ) -> Result<Workplace, FunctionEnvironmentError> {
        let project = self.project()?;
        let folder =
            PackageFolder { root: self.scratch.join("providers"), room: self.package_room };
        let mirror: Arc<dyn ArtifactStore> = match &self.local {
            Some(local) => Arc::new(local.providers()),
            None => self.deployment_stores(&project).providers().await?,
        };
        let packages = provider_mirror::install(&*mirror, &bundle.locks, &folder).await?;
        let timeouts = PluginTimeouts::default();
        let host = PluginHost::new(self.watchdog.clone(), self.inherited.clone(), timeouts);
        let files = bundle.files();
        let estates = KnownEstates {
            working_directory: bundle.directory.clone(),
            project: Project { estates: bundle.estates.clone(), ..project.clone() },
            root: bundle.root.clone(),
            store: STORE.into(),
            surroundings: self.surroundings.clone(),
            clock: self.clock.clone(),
            random: self.random.clone(),
        };
        let https = Arc::new(HttpsClient::new(BackendReader::PATIENCE));
        let backends = BackendReader { surroundings: self.surroundings.clone(), https };
        let remote = StateFiles::new(files.clone()).with_estates(estates).with_backends(backends);
        let remote = Arc::new(remote);
        let builtin = Arc::new(BuiltinProvider::new(self.random.clone(), Some(remote)));
        let schemas = self.schemas.clone();
        let providers = InstalledProviders::new(packages, Arc::new(host), schemas, builtin);
        let (clock, random) = (self.clock.clone(), self.random.clone());
        let records = stores.records.clone();
        let opened = Estate::open(records, "", estate.clone(), clock.clone(), random.clone())
            .map_err(EstateError::from)?;
        Ok(Workplace {
            estate: opened.with_artifacts(stores.artifacts.clone()),
            contract: stores.contract.clone(),
            environment: Environment {
                files,
                working_directory: bundle.directory.clone(),
                home_directory: None,
                clock,
                random,
                providers: Arc::new(providers),
                hooks,
                parallelism: PARALLELISM,
                workspace: WORKSPACE.into(),
            },
            stop: self.handover.begin(),
            terms: project.terms(),
            locked: locked_providers(&bundle.locks),
        })
    }
}

/// The estate of an unpacked bundle. What its `plumb.toml` says of stores, keys and policies is not looked at.
pub(crate) fn find_estate(
    root: PathBuf,
    estate: &EstateName,
) -> Result<OpenBundle, FunctionEnvironmentError> {
    let no_estate = || FunctionEnvironmentError::NoEstate { estate: estate.as_str().to_owned() };
    let text = std::fs::read_to_string(root.join(project::FILE)).map_err(|_| no_estate())?;
    let project = Project::parse(&text, []).map_err(FunctionEnvironmentError::Project)?;
    let settings = project.estates.get(estate.as_str()).cloned().ok_or_else(no_estate)?;
    let directory = root.join(&settings.directory);
    let locks = match std::fs::read(directory.join(Locks::FILE)) {
        Ok(text) => Locks::parse(Locks::FILE, &text)
            .map_err(|error| FunctionEnvironmentError::Locks(error.to_string()))?,
        // Whether one is needed, the configuration says.
        Err(_) => Locks::default(),
    };
    Ok(OpenBundle { root, directory, estates: project.estates, settings, locks })
}
