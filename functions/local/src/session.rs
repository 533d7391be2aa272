//! One command at work: where, for whom, and what it has opened.

use crate::WATCHDOG;
use crate::cli_config;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::fault_injection::mortal;
use crate::invocation::Invocation;
use crate::project::LocatedProject;
use crate::reporter::{Reporter, Speech};
use crate::required_providers;
use crate::stores::ProcessSurroundings;

use crate::working_directory::{STORE, WorkingDirectory};
use engine::clock::Clock;
use engine::estate::{Estate, EstateError};
use engine::hooks::Hook;
use engine::identifiers::Principal;
use engine::random::Random;
use engine::{Environment, Stop};
use language::diagnostics::{Diagnostic, Diagnostics};
use machine::{SystemRandom, WallClock};
use providers::builtin::BuiltinProvider;
use providers::https::OnDemandClient;
use providers::install::{CliConfig, Locks, Network, ProviderPackages};
use providers::plugin::watchdog::WatchdogCommand;
use providers::plugin::{PluginHost, PluginTimeouts};
use providers::services::Services;
use providers::{InstalledProviders, Providers, SchemaCache};
use records::{Opening, StoreError};
use runs::contract::ContractTerms;
use runs::kms_key::KmsKey;
use runs::plan_key::PlanKey;
use runs::project::{Project, StoreTable};
use runs::remote_state::{KnownEstates, StateFiles};
use runs::source::Source;
use runs::stores::{Places, StoreSurroundings, Stores, StoresError};
use runs::terraform_backend::BackendReader;
use runs::workspace::{WorkspaceError, WorkspaceName};
use runs::{RunError, Workplace, key_file};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How many instances are worked on at once, where nothing else is said.
pub(crate) const PARALLELISM: usize = 10;

/// How long a host may take to answer, and for each part of what it answers, where nothing else is said.
const PATIENCE: Duration = Duration::from_secs(30);

/// One command at work.
pub(crate) struct Session {
    pub(crate) environment: Arc<ProcessEnvironment>,
    pub(crate) directory: WorkingDirectory,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) stop: Stop,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    /// The workspace that is worked in.
    pub(crate) workspace: WorkspaceName,
    /// Whether `TF_WORKSPACE` names it, whatever was selected.
    pub(crate) workspace_is_overridden: bool,
    /// The estate that a person named.
    estate: Option<String>,
    services: OnceLock<Arc<Services>>,
}

impl Session {
    /// # Errors
    /// Where the directory cannot be entered, or what names the workspace names none.
    pub(crate) fn begin(
        invocation: &Invocation,
        environment: ProcessEnvironment,
        speech: Speech,
    ) -> Result<Session, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(WallClock);
        let reporter = Arc::new(Reporter::new(speech, &environment, clock.clone()));
        let estate = invocation.estate.clone();
        let estate = estate.or_else(|| environment.get("PLUMB_ESTATE").map(str::to_owned));
        let overriding = environment.get("TF_WORKSPACE").map(str::to_owned);
        let workspace_is_overridden = overriding.is_some();
        let begin = || {
            let directory = WorkingDirectory::enter(invocation.directory.as_deref(), &environment)?;
            let name = match overriding {
                Some(name) => Some(name),
                None => directory.selected_workspace()?,
            };
            let workspace = match name {
                Some(name) => WorkspaceName::new(&name).map_err(invalid_workspace)?,
                None => WorkspaceName::default(),
            };
            Ok((directory, workspace))
        };
        match begin() {
            Ok((directory, workspace)) => Ok(Session {
                environment: Arc::new(environment),
                directory,
                reporter,
                stop: Stop::new(),
                clock,
                random: Arc::new(SystemRandom),
                workspace,
                workspace_is_overridden,
                estate,
                services: OnceLock::new(),
            }),
            Err(failure) => {
                reporter.failure(&failure, None);
                Err(Failure::Reported)
            }
        }
    }

    /// Says what a command came to.
    pub(crate) fn conclude(&self, result: Result<u8, Failure>, command: &str) -> u8 {
        result.unwrap_or_else(|failure| {
            self.reporter.failure(&failure, Some(command));
            1
        })
    }

    pub(crate) fn principal(&self) -> Principal {
        Principal::from_stored(self.environment.user())
    }

    /// The project that the directory belongs to.
    ///
    /// # Errors
    /// Where its file cannot be used, or does not say which estate the directory is.
    pub(crate) fn project(&self) -> Result<LocatedProject, Failure> {
        self.default_project()?.in_workspace(&self.workspace)
    }

    /// The same, in the default workspace.
    ///
    /// # Errors
    /// As [`Session::project`].
    pub(crate) fn default_project(&self) -> Result<LocatedProject, Failure> {
        LocatedProject::find(&self.directory.path, self.estate.as_deref(), &self.environment)
    }

    /// The stores of an estate; `None` where there are none and none are to be made.
    ///
    /// # Errors
    /// Where they cannot be opened.
    async fn stores(
        &self,
        project: &LocatedProject,
        opening: Opening,
    ) -> Result<Option<Stores>, Failure> {
        let beside = self.directory.store();
        let places = Places { root: &project.root, beside: &beside };
        let (table, name) = (&project.project, &project.estate.name);
        let surroundings = ProcessSurroundings(self.environment.clone());
        match Stores::open(table, name, places, opening, &surroundings).await {
            Ok(stores) => Ok(Some(stores)),
            Err(StoresError::Store(StoreError::RootMissing { .. })) => Ok(None),
            Err(error) => {
                let summary = "Failed to open the store of records";
                Err(Failure::error(summary, format!("{error}.")))
            }
        }
    }

    /// The estate, and the contract of its store; `None` where there is no store and none is to be made.
    ///
    /// # Errors
    /// Where the store cannot be opened.
    pub(crate) async fn estate(
        &self,
        opening: Opening,
    ) -> Result<Option<(Estate, Option<ContractTerms>)>, Failure> {
        self.estate_of(&self.project()?, opening).await
    }

    /// The estate of a project.
    ///
    /// # Errors
    /// As [`Session::estate`].
    pub(crate) async fn estate_of(
        &self,
        project: &LocatedProject,
        opening: Opening,
    ) -> Result<Option<(Estate, Option<ContractTerms>)>, Failure> {
        let Some(stores) = self.stores(project, opening).await? else { return Ok(None) };
        if opening == Opening::Create {
            self.directory.ignore_store();
        }
        let records = mortal(stores.records, &self.environment);
        let (name, clock) = (project.estate.name.clone(), self.clock.clone());
        let estate = Estate::open(records, "", name, clock, self.random.clone());
        let estate = estate.map_err(|error| {
            Failure::error("Failed to open the store of records", format!("{error}."))
        })?;
        let estate = estate.with_artifacts(stores.artifacts).with_journals(stores.journals);
        Ok(Some((estate, stores.contract)))
    }

    /// The key that authenticates plans.
    ///
    /// # Errors
    /// Where it cannot be read or made.
    pub(crate) async fn key(&self) -> Result<PlanKey, Failure> {
        let project = self.project()?;
        if let Some(key) = &project.project.plans.hmac_key {
            let profile = match &project.project.store {
                StoreTable::S3(table) => table.profile.as_deref(),
                _ => None,
            };
            let sdk = ProcessSurroundings(self.environment.clone()).aws(profile).await;
            return Ok(PlanKey::Kms(KmsKey::of(&sdk, key)));
        }
        // Where a store is shared, so are its plans.
        let store = project.store_directory(self.directory.store());
        let folder = store.unwrap_or_else(|| self.directory.store());
        let key = key_file::open(&folder.join("key"), &*self.random);
        self.directory.ignore_store();
        key.map(PlanKey::File)
            .map_err(|error| Failure::error("Failed to open the key of plans", format!("{error}.")))
    }

    /// What the CLI configuration says of providers and hosts.
    ///
    /// # Errors
    /// Where it cannot be read or used.
    pub(crate) fn cli_config(&self) -> Result<CliConfig, Failure> {
        cli_config::read(&self.environment, &self.directory.path)
    }

    /// The services of hosts: registries of providers and modules. Each host is asked once.
    ///
    /// # Errors
    /// Where the CLI configuration cannot be used.
    pub(crate) fn services(&self) -> Result<Arc<Services>, Failure> {
        if let Some(services) = self.services.get() {
            return Ok(services.clone());
        }
        let config = self.cli_config()?;
        let seconds = self.environment.get("TF_REGISTRY_CLIENT_TIMEOUT");
        let seconds = seconds.and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
        let client = OnDemandClient::new(seconds.map_or(PATIENCE, Duration::from_secs));
        let mut services = Services::new(Arc::new(client), config.credentials);
        for (host, offered) in config.hosts {
            services = services.with_host(host, offered).map_err(|host| {
                let detail = format!("There is no host {host}.");
                Failure::error("Invalid CLI configuration", detail)
            })?;
        }
        Ok(self.services.get_or_init(|| Arc::new(services)).clone())
    }

    /// The way to credentials for AWS.
    pub(crate) fn surroundings(&self) -> Arc<dyn StoreSurroundings> {
        Arc::new(ProcessSurroundings(self.environment.clone()))
    }

    /// The way to registries and mirrors of providers.
    ///
    /// # Errors
    /// As [`Session::services`].
    pub(crate) fn network(&self) -> Result<Network, Failure> {
        Ok(Network { services: self.services()?, now: self.clock.now().as_second() })
    }

    /// The way to states that Terraform keeps.
    pub(crate) fn backends(&self) -> BackendReader {
        BackendReader { surroundings: Arc::new(ProcessSurroundings(self.environment.clone())) }
    }

    /// The providers that are installed.
    ///
    /// # Errors
    /// Where the CLI configuration cannot be used.
    pub(crate) fn providers(&self, locks: &Locks) -> Result<Arc<dyn Providers>, Failure> {
        let config = self.cli_config()?;
        let watchdog = WatchdogCommand {
            program: self.environment.program.clone(),
            args: vec![WATCHDOG.into()],
        };
        let inherited = self.environment.inherited.clone();
        let host = PluginHost::new(watchdog, inherited, PluginTimeouts::default());
        let here = &self.directory.path;
        // Who needs the project says what is wrong with it.
        let project = self.project().ok();
        let (project, root) = match project {
            Some(located) => (located.project, located.root),
            None => (Project::default(), here.clone()),
        };
        let estates = KnownEstates {
            working_directory: here.clone(),
            project,
            root,
            store: STORE.into(),
            surroundings: Arc::new(ProcessSurroundings(self.environment.clone())),
            clock: self.clock.clone(),
            random: self.random.clone(),
        };
        let backends = self.backends();
        let files = StateFiles::new(self.directory.files.clone());
        let remote = files.with_estates(estates).with_backends(backends);
        let remote = Arc::new(remote);
        let builtin = BuiltinProvider::new(self.random.clone(), Some(remote));
        Ok(Arc::new(InstalledProviders::new(
            self.directory.packages(config, locks.clone()),
            Arc::new(host),
            Arc::new(SchemaCache::default()),
            Arc::new(builtin),
        )))
    }

    /// The engine's surroundings.
    pub(crate) fn engine(
        &self,
        providers: Arc<dyn Providers>,
        hooks: Vec<Arc<dyn Hook>>,
        parallelism: usize,
    ) -> Environment {
        Environment {
            files: self.directory.files.clone(),
            working_directory: self.directory.path.clone(),
            home_directory: self.directory.home(),
            clock: self.clock.clone(),
            random: self.random.clone(),
            providers,
            hooks,
            parallelism,
            workspace: self.workspace.as_str().into(),
        }
    }

    /// Everything that a handler needs.
    ///
    /// # Errors
    /// Where the store, the lock file or the CLI configuration cannot be used.
    pub(crate) async fn workplace(&self, parallelism: usize) -> Result<Workplace, Failure> {
        let locks = self.directory.locks()?;
        let providers = self.providers(&locks)?;
        self.list_workspace().await?;
        let Some((estate, contract)) = self.estate(Opening::Create).await? else {
            return Err(
                Diagnostic::error("No store of records", "It was removed meanwhile.").into()
            );
        };
        let environment = self.engine(providers, vec![self.reporter.hook()], parallelism);
        let terms = self.project()?.project.terms();
        Ok(Workplace {
            estate,
            contract,
            environment,
            stop: self.stop.clone(),
            terms,
            locked: runs::locked_providers(&locks),
        })
    }

    /// Sees to it that the workspace is listed, also where only `TF_WORKSPACE` names it.
    ///
    /// # Errors
    /// Where the store cannot be written.
    pub(crate) async fn list_workspace(&self) -> Result<(), Failure> {
        if self.workspace.is_default() {
            return Ok(());
        }
        let default = self.estate_of(&self.default_project()?, Opening::Create).await?;
        let Some((estate, _)) = default else { return Ok(()) };
        match estate.note_workspace(self.workspace.as_str()).await {
            // Who may only read plans all the same.
            Err(EstateError::Store(error)) if error.is_denial() => Ok(()),
            noted => Ok(noted.map(|_| ()).map_err(RunError::from)?),
        }
    }

    /// The configuration, with its modules installed and its providers locked.
    ///
    /// # Errors
    /// Where it is not valid, or `plumb init` has to run first. Warnings are in the answer.
    pub(crate) fn configuration(&self) -> Result<(Source, Diagnostics), Failure> {
        let (source, mut diagnostics, packages) = self.checked_configuration()?;
        diagnostics.extend(required_providers::development_overrides(&packages));
        Ok((source, diagnostics))
    }

    /// The same, without a word on what stands in for installed providers; and these.
    ///
    /// # Errors
    /// As [`Session::configuration`].
    pub(crate) fn checked_configuration(
        &self,
    ) -> Result<(Source, Diagnostics, ProviderPackages), Failure> {
        let (source, diagnostics) = self.directory.load()?;
        let sources = source.configuration.sources.clone();
        if diagnostics.has_errors() {
            return Err(Failure::Diagnostics(diagnostics, sources));
        }
        let backend = source.configuration.root.module.settings.backend();
        if let Some(error) =
            backend.and_then(|backend| backend.unknown_kind("Invalid backend type"))
        {
            return Err(Failure::Diagnostics(error.into(), sources));
        }
        let locks = self.directory.locks()?;
        let packages = self.directory.packages(self.cli_config()?, locks);
        required_providers::check(&source.configuration, &packages)?;
        Ok((source, diagnostics, packages))
    }
}

/// A text is no name of a workspace.
pub(crate) fn invalid_workspace(error: WorkspaceError) -> Failure {
    Failure::of("Invalid workspace name", &error)
}
