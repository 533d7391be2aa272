//! Modules that a configuration calls, installed beside it: fetched from registries, archives, git repositories, S3 and
//! other folders, and noted in a manifest as Terraform writes it.
//!
//! What comes is not believed: sizes and numbers are bounded, no path and no link leads out of a package, git is given
//! nothing that it could take for an option or for a program to run, and no message carries credentials.

mod address;
mod checksum;
mod error;
mod folder;
mod git;
mod http;
mod objects;
mod packages;
mod registry;
mod walk;

pub use error::PackageError;
pub use git::GitProgram;
pub use objects::{ModuleObjects, ObjectLocation, S3ModuleObjects};
pub use packages::{PackageClients, PackageSources, Reach, ReadyClients};
pub use registry::RegistryError;

use language::diagnostics::Diagnostics;
use language::files::FileSystem;
use language::module::{Module, ModuleManifest};
use language::source::Sources;
use language::version::Version;
use std::path::Path;
use std::sync::Arc;

/// Installs the modules of one root module.
pub struct ModuleInstaller<'a> {
    /// The root module's files: relative paths start in its folder.
    pub files: &'a dyn FileSystem,
    /// The root module's folder, as an absolute path.
    pub root: &'a Path,
    /// The folder for installed modules, relative to the root module's folder or absolute.
    pub directory: &'a Path,
    /// Where packages come from.
    pub packages: &'a PackageSources<'a>,
    /// Whether what is installed is fetched again, in the newest versions that will do.
    pub upgrade: bool,
}

/// Follows an installation.
pub trait ModuleInstallObserver: Send {
    /// A package is fetched for a module.
    fn downloading(&mut self, key: &str, package: &str, version: Option<&Version>);
    /// A module is where it will be read.
    fn installed(&mut self, key: &str, directory: &Path);
}

/// What an installation came to.
#[derive(Debug)]
pub struct ModuleInstallation {
    /// What is installed now, also where there were errors.
    pub manifest: ModuleManifest,
    /// What went wrong.
    pub diagnostics: Diagnostics,
    /// Whether all that went wrong may pass in a moment: hosts that did not answer.
    pub may_pass: bool,
    /// What is wrong in the files of the modules that were read.
    pub in_files: Diagnostics,
}

impl ModuleInstaller<'_> {
    /// Installs what a root module calls, and what that calls, so far as `manifest` does not say that it is there.
    /// Spans of diagnostics count in `sources`.
    pub async fn install(
        &self,
        root: Arc<Module>,
        sources: &Sources,
        manifest: ModuleManifest,
        observer: &mut dyn ModuleInstallObserver,
    ) -> ModuleInstallation {
        walk::Walk::new(self, sources, manifest, observer).run(root).await
    }
}
