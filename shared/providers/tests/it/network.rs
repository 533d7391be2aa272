//! What tests of registries and mirrors share.

use providers::https::HttpsClient;
use providers::install::{
    CliConfig, InstallError, InstallEvent, InstallMode, InstallRequest, InstallationKind,
    InstallationMethod, Installer, Locks, Network, PackageLimits, Platform, ProviderPackages,
    VersionConstraints,
};
use providers::services::{Credentials, Services};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use test_servers::{ProviderRegistry, Release, Site};
use values::address::ProviderAddress;

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const LINUX: &str = "linux_amd64";
pub(crate) const MAC: &str = "darwin_arm64";
pub(crate) const NOW: i64 = 1_800_000_000;

/// A client that knows a site.
pub(crate) fn client(site: &Site) -> HttpsClient {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(site.certificate().as_bytes()).unwrap()).unwrap();
    HttpsClient::with_roots(roots, PATIENCE).unwrap()
}

pub(crate) fn services(site: &Site, credentials: Credentials) -> Services {
    Services::new(Arc::new(client(site)), credentials).with_pause(Duration::ZERO)
}

pub(crate) fn release<'a>(ty: &'a str, version: &'a str) -> Release<'a> {
    let platforms = &[LINUX, MAC];
    Release { namespace: "acme", ty, version, protocols: &["5.0"], platforms }
}

/// A registry and a working directory that installs from it.
pub(crate) struct Scene {
    pub(crate) registry: ProviderRegistry,
    pub(crate) installer: Installer,
    pub(crate) events: Vec<String>,
    pub(crate) root: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene::with_credentials(|_| Credentials::default())
    }

    pub(crate) fn with_credentials(credentials: impl FnOnce(&str) -> Credentials) -> Scene {
        let registry = ProviderRegistry::start();
        let root = tempfile::tempdir().unwrap();
        let credentials = credentials(&registry.site.host());
        let services = Arc::new(services(&registry.site, credentials));
        let installer = Installer {
            config: CliConfig::default(),
            implied_mirrors: vec![],
            directory: root.path().join("providers"),
            platform: LINUX.parse().unwrap(),
            network: Some(Network { services, now: NOW }),
            limits: PackageLimits::default(),
        };
        Scene { registry, installer, events: vec![], root }
    }

    pub(crate) fn provider(&self, ty: &str) -> ProviderAddress {
        format!("{}/acme/{ty}", self.registry.site.host()).parse().unwrap()
    }

    pub(crate) fn only(&mut self, kind: InstallationKind) {
        let method = InstallationMethod { kind, include: vec![], exclude: vec![] };
        self.installer.config.installation = Some(vec![method]);
    }

    pub(crate) async fn install(
        &mut self,
        wanted: &[(&str, &str)],
        locks: &Locks,
    ) -> Result<Locks, Vec<InstallError>> {
        self.install_by(wanted, locks, InstallMode::Locked).await
    }

    pub(crate) async fn install_by(
        &mut self,
        wanted: &[(&str, &str)],
        locks: &Locks,
        mode: InstallMode,
    ) -> Result<Locks, Vec<InstallError>> {
        let requirements: BTreeMap<ProviderAddress, VersionConstraints> =
            wanted.iter().map(|(ty, c)| (self.provider(ty), c.parse().unwrap())).collect();
        let request = InstallRequest { requirements: &requirements, locks, mode };
        let mut events = Vec::new();
        let mut told = |event: InstallEvent<'_>| {
            events.push(match event {
                InstallEvent::Installed { authentication, .. } => authentication.to_string(),
                InstallEvent::FromCache { .. } => "from cache".to_owned(),
                InstallEvent::AlreadyInstalled { .. } => "already installed".to_owned(),
                InstallEvent::LockedForThisPlatform { .. } => "incomplete".to_owned(),
                InstallEvent::Warned { warnings, .. } => warnings.join(","),
                _ => return,
            });
        };
        let result = self.installer.install(request, &mut told).await;
        self.events = events;
        result
    }

    /// The one error of an installation that has to fail.
    pub(crate) async fn refusal(&mut self, wanted: &[(&str, &str)]) -> InstallError {
        self.install(wanted, &Locks::default()).await.unwrap_err().remove(0)
    }

    pub(crate) fn packages(&self, locks: &Locks) -> ProviderPackages {
        ProviderPackages {
            directory: self.installer.directory.clone(),
            platform: self.installer.platform.clone(),
            locks: locks.clone(),
            dev_overrides: BTreeMap::new(),
            running: BTreeMap::new(),
        }
    }

    /// What the program of an installed provider says.
    pub(crate) fn program(&self, locks: &Locks, ty: &str) -> String {
        let package = self.packages(locks).verified(&self.provider(ty)).unwrap();
        std::fs::read_to_string(package.program).unwrap()
    }

    /// All that lies where packages go.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.installer.directory.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let entry = entry.unwrap();
                match entry.file_type().unwrap().is_dir() {
                    true => folders.push(entry.path()),
                    false => files.push(entry.path()),
                }
            }
        }
        files
    }

    pub(crate) fn current(&self) -> &Platform {
        &self.installer.platform
    }
}
