//! A root module in a folder, and what installing its modules came to.

use crate::surroundings::Nowhere;
use bytes::Bytes;
use language::files::Disk;
use language::module::{ModuleManifest, read_module};
use language::source::Sources;
use language::version::Version;
use providers::services::{Credentials, Services};
use runs::bundle::{Bounds, BundleFiles};
use runs::https::{Https, HttpsClient};
use runs::modules::{
    GitProgram, ModuleInstallObserver, ModuleInstaller, PackageSources, Reach, ReadyClients,
    S3ModuleObjects,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Scene {
    pub(super) folder: tempfile::TempDir,
    pub(super) packages: PackageSources<'static>,
}

/// What was said and noted.
pub(super) struct Outcome {
    pub(super) told: Vec<String>,
    pub(super) errors: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) manifest: String,
    pub(super) may_pass: bool,
}

impl Outcome {
    /// # Panics
    /// Unless there is one error that says this.
    #[track_caller]
    pub(super) fn assert_refused(&self, summary: &str, detail: &str) {
        let [error] = &*self.errors else { panic!("one error is expected: {:?}", self.errors) };
        assert!(error.starts_with(summary) && error.contains(detail), "{error}");
    }

    #[track_caller]
    pub(super) fn assert_installed(&self) {
        assert_eq!(self.errors, Vec::<String>::new());
    }
}

impl Scene {
    pub(super) fn new(main: &str) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let scene = Scene { packages: packages(), folder };
        scene.write("root/main.tf", main);
        scene
    }

    /// With a host whose registry is at an address.
    pub(super) fn with_registry(self, host: &str, url: String, credentials: Credentials) -> Scene {
        let https = https();
        let offered = [("modules.v1".to_owned(), url)].into_iter().collect();
        let services = Services::new(https.clone(), credentials).with_pause(Duration::ZERO);
        let services = Arc::new(services.with_host(host.parse().unwrap(), offered).unwrap());
        let clients = Box::new(ReadyClients { services, https });
        Scene { packages: PackageSources { clients, ..self.packages }, ..self }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) async fn install(&self) -> Outcome {
        self.install_from(ModuleManifest::default(), false).await
    }

    /// Installs again, with the manifest of an earlier installation.
    pub(super) async fn again(&self, before: &Outcome, upgrade: bool) -> Outcome {
        let manifest = ModuleManifest::parse(before.manifest.as_bytes()).unwrap();
        self.install_from(manifest, upgrade).await
    }

    async fn install_from(&self, manifest: ModuleManifest, upgrade: bool) -> Outcome {
        let root = self.path("root");
        let disk = Disk::new(root.clone());
        let sources = Arc::new(Sources::new());
        let (module, diagnostics) = read_module(&disk, Path::new(""), &sources);
        let installer = ModuleInstaller {
            files: &disk,
            root: &root,
            directory: Path::new(".terraform/modules"),
            packages: &self.packages,
            upgrade,
        };
        let mut told = Told(Vec::new());
        let installed = installer.install(Arc::new(module), &sources, manifest, &mut told).await;
        let mut outcome = Outcome {
            told: told.0,
            errors: Vec::new(),
            warnings: Vec::new(),
            manifest: installed.manifest.to_json(),
            may_pass: installed.may_pass,
        };
        let all = diagnostics.iter().chain(installed.diagnostics.iter());
        for diagnostic in all.chain(installed.in_files.iter()) {
            let text = format!("{}: {}", diagnostic.summary, diagnostic.detail);
            match diagnostic.is_error() {
                true => outcome.errors.push(text),
                false => outcome.warnings.push(text),
            }
        }
        outcome
    }
}

fn https() -> Arc<dyn Https> {
    Arc::new(HttpsClient::new(Duration::from_secs(10)).unwrap())
}

fn packages() -> PackageSources<'static> {
    let https = https();
    let services = Services::new(https.clone(), Credentials::default());
    let environment = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
    PackageSources {
        clients: Box::new(ReadyClients { services: Arc::new(services), https }),
        objects: Arc::new(S3ModuleObjects(Arc::new(Nowhere))),
        git: GitProgram::find(environment, false),
        reach: Reach::Everything,
        bounds: Bounds { bytes: 1 << 20, entries: 100, path: 200 },
    }
}

struct Told(Vec<String>);

impl ModuleInstallObserver for Told {
    fn downloading(&mut self, key: &str, package: &str, version: Option<&Version>) {
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        self.0.push(format!("{key} <- {package}{version}"));
    }
    fn installed(&mut self, key: &str, directory: &Path) {
        self.0.push(format!("{key} in {}", directory.display()));
    }
}

/// A `.tar.gz` of files.
pub(super) fn tar_gz(files: &[(&str, &str)]) -> Bytes {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    files.collect::<BundleFiles>().to_archive().unwrap()
}

/// A `.zip` of files; those whose names end with `@` are links.
pub(super) fn zip(files: &[(&str, &str)]) -> Bytes {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (path, text) in files {
        match path.strip_suffix('@') {
            Some(link) => archive.add_symlink(link, *text, options).unwrap(),
            None => {
                archive.start_file(*path, options).unwrap();
                archive.write_all(text.as_bytes()).unwrap();
            }
        }
    }
    archive.finish().unwrap().into_inner().into()
}
