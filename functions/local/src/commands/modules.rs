//! Installing of modules, for `plumb init` and `plumb get`.

use crate::failure::Failure;
use crate::provider_installation::say;
use crate::session::Session;
use language::diagnostics::Diagnostics;
use language::module::Module;
use language::source::Sources;
use language::version::Version;
use providers::https::Https;
use providers::services::Services;
use runs::bundle::Bounds;
use runs::modules::{
    GitProgram, ModuleInstallObserver, ModuleInstaller, PackageClients, PackageError,
    PackageSources, Reach, S3ModuleObjects,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a host may take to answer, and for each part of an archive.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a person's own configuration is allowed to name.
const BOUNDS: Bounds = Bounds { bytes: 1 << 30, entries: 200_000, path: 1024 };

/// What was not reported yet: of the installation, and of the modules' files, which whoever reads them next reports again.
pub(super) struct Noticed {
    pub(super) installing: Diagnostics,
    pub(super) in_files: Diagnostics,
}

/// Installs what a root module calls, and notes it in the manifest.
///
/// # Errors
/// Where something could not be installed; what could be is noted all the same.
pub(super) async fn install(
    session: &Session,
    root: Arc<Module>,
    sources: &Arc<Sources>,
    upgrade: bool,
    may_ask: bool,
) -> Result<Noticed, Failure> {
    let packages = PackageSources {
        clients: Box::new(SessionClients {
            session,
            https: Arc::new(session.https(PATIENCE).with_plain_http()),
        }),
        objects: Arc::new(S3ModuleObjects(session.surroundings())),
        git: GitProgram::find(session.environment.inherited.clone(), may_ask),
        reach: Reach::Everything,
        bounds: BOUNDS,
    };
    let directory = session.directory.modules();
    let installer = ModuleInstaller {
        files: &*session.directory.files,
        root: &session.directory.path,
        directory: &directory,
        packages: &packages,
        upgrade,
    };
    // One that cannot be read is written anew.
    let before = session.directory.manifest().unwrap_or_default();
    let installed = installer.install(root, sources, before, &mut Told { session }).await;
    session.directory.write_manifest(&installed.manifest)?;
    let (mut installing, in_files) = (installed.diagnostics, installed.in_files);
    if installing.has_errors() || in_files.has_errors() {
        installing.extend(in_files);
        return Err(Failure::Diagnostics(installing, sources.clone()));
    }
    Ok(Noticed { installing, in_files })
}

/// The CLI configuration is read when services are asked for.
struct SessionClients<'a> {
    session: &'a Session,
    https: Arc<dyn Https>,
}

impl PackageClients for SessionClients<'_> {
    fn services(&self) -> Result<Arc<Services>, PackageError> {
        self.session.services().map_err(|failure| match failure {
            Failure::Diagnostics(diagnostics, _) => {
                let texts = diagnostics.iter().map(|d| format!("{}: {}", d.summary, d.detail));
                PackageError::Clients(texts.collect::<Vec<_>>().join("; "))
            }
            _ => PackageError::Clients("the CLI configuration cannot be used".to_owned()),
        })
    }

    fn https(&self) -> Arc<dyn Https> {
        self.https.clone()
    }
}

/// Tells of an installation's steps.
struct Told<'a> {
    session: &'a Session,
}

impl ModuleInstallObserver for Told<'_> {
    fn downloading(&mut self, key: &str, package: &str, version: Option<&Version>) {
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        say(self.session, &format!("Downloading {package}{version} for {key}..."));
    }

    fn installed(&mut self, key: &str, directory: &Path) {
        say(self.session, &format!("- {key} in {}", directory.display()));
    }
}
