//! The walk over a tree of modules while it is being installed.

use super::address::masked;
use super::error::PackageError;
use super::registry::{Choice, Offered, RegistryError};
use super::{ModuleInstallObserver, ModuleInstallation, ModuleInstaller, folder};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::files::FileKind;
use language::module::{
    Module, ModuleCall, ModuleManifest, ModuleRecord, ModuleSource, RegistryModule, RemoteModule,
    module_key, read_module,
};
use language::source::Sources;
use language::version::Version;
use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use values::address::ModulePath;

/// How many packages may lead to each other: one that a server makes up anew each time could do so without end.
const PACKAGES_IN_A_ROW: usize = 50;

/// A module that was read, whose calls are looked at.
struct Caller {
    path: ModulePath,
    module: Arc<Module>,
    /// The source that it came from, and what that stands for; none for the root.
    source: Option<(ModuleSource, Identity)>,
    parent: Option<Arc<Caller>>,
}

/// What tells whether two calls lead to the same files.
#[derive(Clone, PartialEq, Eq)]
enum Identity {
    Folder(PathBuf),
    Package(RemoteModule),
}

impl Caller {
    /// This module and those that led to it, from here upwards.
    fn lineage(self: &Arc<Caller>) -> impl Iterator<Item = &Arc<Caller>> {
        std::iter::successors(Some(self), |caller| caller.parent.as_ref())
    }
}

pub(super) struct Walk<'a> {
    installer: &'a ModuleInstaller<'a>,
    sources: &'a Sources,
    manifest: ModuleManifest,
    observer: &'a mut dyn ModuleInstallObserver,
    diagnostics: Diagnostics,
    in_files: Diagnostics,
    /// Calls that may be installed in a moment, and those that may not.
    passing: usize,
    lasting: usize,
    /// Folders that packages were fetched into.
    fetched: HashMap<Arc<str>, PathBuf>,
    offered: HashMap<String, Arc<Offered>>,
    locations: HashMap<(String, Version), RemoteModule>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        installer: &'a ModuleInstaller<'a>,
        sources: &'a Sources,
        manifest: ModuleManifest,
        observer: &'a mut dyn ModuleInstallObserver,
    ) -> Walk<'a> {
        Walk {
            installer,
            sources,
            manifest,
            observer,
            diagnostics: Diagnostics::new(),
            in_files: Diagnostics::new(),
            passing: 0,
            lasting: 0,
            fetched: HashMap::new(),
            offered: HashMap::new(),
            locations: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self, root: Arc<Module>) -> ModuleInstallation {
        self.manifest.insert(ModuleRecord {
            key: String::new(),
            source: String::new(),
            version: None,
            directory: ".".into(),
        });
        let root = Caller { path: ModulePath::root(), module: root, source: None, parent: None };
        let mut waiting = Vec::new();
        push_calls(&mut waiting, Arc::new(root));
        while let Some((caller, name)) = waiting.pop() {
            let Some(call) = caller.module.module_calls.get(&name) else { continue };
            if let Some(child) = self.call(&caller, call).await {
                push_calls(&mut waiting, Arc::new(child));
            }
        }
        ModuleInstallation {
            manifest: self.manifest,
            diagnostics: self.diagnostics,
            may_pass: self.passing > 0 && self.lasting == 0,
            in_files: self.in_files,
        }
    }

    /// Installs what a call leads to, and reads it; `None` after an error.
    async fn call(&mut self, caller: &Arc<Caller>, call: &ModuleCall) -> Option<Caller> {
        let source = call.source.clone()?;
        // Names become folders; what is no name was reported.
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if call.name.is_empty() || !call.name.chars().all(is_name) {
            return None;
        }
        let path = caller.path.child(call.name.clone());
        let installed = self.installed(&path, &source, call);
        let (directory, identity) = match installed {
            Some(directory) => {
                let identity = match &source {
                    ModuleSource::Remote(remote) => Identity::Package(remote.clone()),
                    _ => Identity::Folder(directory.clone()),
                };
                (directory, identity)
            }
            None => {
                // What is no longer called at all stays noted, as Terraform has it.
                self.manifest.remove_with_descendants(&path);
                let installed = match &source {
                    ModuleSource::Local(relative) => self.local(caller, call, relative),
                    ModuleSource::Remote(remote) => {
                        self.remote(caller, call, &path, remote, None).await
                    }
                    ModuleSource::Registry(module) => {
                        self.registry(caller, call, &path, module).await
                    }
                };
                let (directory, version, identity) = match installed {
                    Ok(installed) => installed,
                    Err(refusal) => {
                        self.refuse(refusal);
                        return None;
                    }
                };
                let key = module_key(&path);
                self.observer.installed(&key, &directory);
                self.manifest.insert(ModuleRecord {
                    key,
                    source: source.to_string(),
                    version: version.map(|version| version.to_string()),
                    directory: directory.clone(),
                });
                (directory, identity)
            }
        };
        if let Err(refusal) = refuse_circle(caller, call, &identity) {
            self.manifest.remove_with_descendants(&path);
            self.refuse(refusal);
            return None;
        }
        let at = match directory == Path::new(".") {
            true => PathBuf::new(),
            false => directory,
        };
        let (module, diagnostics) = read_module(self.installer.files, &at, self.sources);
        self.in_files.extend(diagnostics);
        Some(Caller {
            path,
            module: Arc::new(module),
            source: Some((source, identity)),
            parent: Some(caller.clone()),
        })
    }

    fn refuse(&mut self, refusal: Refusal) {
        match refusal.may_pass {
            true => self.passing += 1,
            false => self.lasting += 1,
        }
        self.diagnostics.push(*refusal.diagnostic);
    }

    /// Where a module is that need not be installed again.
    fn installed(
        &self,
        path: &ModulePath,
        source: &ModuleSource,
        call: &ModuleCall,
    ) -> Option<PathBuf> {
        let record = self.manifest.get(path)?;
        let acceptable = match (record.installed_version(), &call.version) {
            (Some(version), Some(wanted)) => wanted.constraints.matches(&version),
            (None, Some(_)) => false,
            (_, None) => true,
        };
        let there = matches!(self.installer.files.kind(&record.directory), Ok(FileKind::Directory));
        let current = !self.installer.upgrade && record.source == source.to_string();
        (current && acceptable && there).then(|| record.directory.clone())
    }

    fn local(&self, caller: &Arc<Caller>, call: &ModuleCall, relative: &str) -> Installation {
        if let Some(escaped) = escapes_package(caller, relative) {
            return Err(escaped_error(&caller.path.child(call.name.clone()), &escaped).into());
        }
        let here = self.manifest.get(&caller.path);
        let here = here.map_or(Path::new("."), |record| &record.directory);
        let joined = clean_join(here, relative);
        let directory = folder::follow_links(self.installer.root, &joined).ok();
        let directory = directory.filter(|directory| {
            matches!(self.installer.files.kind(directory), Ok(FileKind::Directory))
        });
        let Some(directory) = directory else {
            let detail = format!(
                "The directory {} could not be read for module \"{}\" at {}.",
                joined.display(),
                call.name,
                self.place(call)
            );
            return Err(Refusal::of(call, "Unreadable module directory", detail));
        };
        let identity = Identity::Folder(directory.clone());
        Ok((directory, None, identity))
    }

    async fn registry(
        &mut self,
        caller: &Arc<Caller>,
        call: &ModuleCall,
        path: &ModulePath,
        module: &RegistryModule,
    ) -> Installation {
        let error = |summary: &str, detail: String| Refusal::of(call, summary, detail);
        let (name, place, host) = (&call.name, self.place(call), &module.host);
        let package = module.package();
        let offered = match self.offered.get(&package).cloned() {
            Some(known) => known,
            None => {
                let asked = self.installer.packages.versions(module).await;
                let offered = Arc::new(asked.map_err(|problem| match problem {
                    RegistryError::NotFound => error(
                        "Module not found",
                        format!(
                            "Module \"{name}\" (from {place}) cannot be found in the module registry at {host}."
                        ),
                    ),
                    problem => error(
                        "Error accessing remote module registry",
                        format!(
                            "Failed to retrieve available versions for module \"{name}\" ({place}) from {host}: {problem}."
                        ),
                    )
                    .passing(problem.may_pass()),
                })?);
                self.offered.insert(package.clone(), offered.clone());
                offered
            }
        };
        if !offered.known {
            return Err(error(
                "Invalid response from remote module registry",
                format!(
                    "The registry at {host} returned an invalid response when Terraform requested available versions for module \"{name}\" ({place})."
                ),
            ));
        }
        for invalid in &offered.invalid {
            let detail = format!(
                "The registry at {host} returned an invalid version string \"{invalid}\" for module \"{name}\" ({place}), which Terraform ignored."
            );
            let warning =
                Diagnostic::warning("Invalid response from remote module registry", detail);
            self.diagnostics.push(warning.at(call.span));
        }
        let version = match offered.choose(call.version.as_ref().map(|wanted| &wanted.constraints))
        {
            Choice::Version(version) => version,
            Choice::None => {
                return Err(error(
                    "Module has no versions",
                    format!("Module \"{module}\" ({place}) has no versions available on {host}."),
                ));
            }
            Choice::NoneMatches(newest) => {
                return Err(error(
                    "Unresolvable module version constraint",
                    format!(
                        "There is no available version of module \"{module}\" ({place}) which matches the given version constraint. The newest available version is {newest}."
                    ),
                ));
            }
        };
        self.observer.downloading(&module_key(path), &package, Some(&version));
        let wanted = (module.to_string(), version.clone());
        let location = match self.locations.get(&wanted).cloned() {
            Some(known) => known,
            None => {
                let asked = self.installer.packages.location(module, &version).await;
                let location = asked.map_err(|problem| {
                    error(
                        "Error accessing remote module registry",
                        format!(
                            "Failed to retrieve a download URL for {module} {version} from {host}: {problem}"
                        ),
                    )
                    .passing(problem.may_pass())
                })?;
                self.locations.insert(wanted, location.clone());
                location
            }
        };
        self.remote(caller, call, path, &location, Some(version)).await
    }

    /// Fetches a package for a call, in a `version` where a registry named it.
    async fn remote(
        &mut self,
        caller: &Arc<Caller>,
        call: &ModuleCall,
        path: &ModulePath,
        remote: &RemoteModule,
        version: Option<Version>,
    ) -> Installation {
        let error = |summary: &str, detail: String| Refusal::of(call, summary, detail);
        // Before anything is fetched that would be thrown away.
        let identity = Identity::Package(remote.clone());
        refuse_circle(caller, call, &identity)?;
        let (key, shown) = (module_key(path), masked(&remote.package));
        if version.is_none() {
            self.observer.downloading(&key, &shown, None);
        }
        let directory = self.installer.directory.join(&key);
        let whole = self.installer.root.join(&directory);
        let fetched = self.fetch(&remote.package, &whole).await;
        let left_out = fetched.map_err(|problem| {
            let ending = if version.is_some() { "." } else { "" };
            error(
                "Failed to download module",
                format!(
                    "Could not download module \"{}\" ({}) source code from \"{shown}\": {problem}{ending}",
                    call.name,
                    self.place(call)
                ),
            )
            .passing(problem.may_pass())
        })?;
        for link in left_out {
            let detail = format!(
                "The link {link} in the package \"{shown}\" leads out of the package or to nothing, and is left out."
            );
            self.diagnostics.push(Diagnostic::warning("Link left out", detail).at(call.span));
        }
        let inside = folder::subdirectory(&whole, &remote.subdirectory);
        let inside = inside.map_err(|problem| match (&version, &problem) {
            (Some(_), PackageError::NoSubdirectory { path }) => error(
                "Unreadable module subdirectory",
                format!(
                    "The directory {}/{path} does not exist. The target submodule {path} does not exist within the target module.",
                    directory.display()
                ),
            ),
            _ => error("Failed to expand subdir globs", problem.to_string()),
        })?;
        let directory = match inside.as_os_str().is_empty() {
            true => directory,
            false => directory.join(inside),
        };
        Ok((directory, version, identity))
    }

    /// Fetches a package into a folder, or copies it from where it was fetched to. The folder is there whole, or not at all.
    async fn fetch(&mut self, package: &Arc<str>, to: &Path) -> Result<Vec<String>, PackageError> {
        let failed =
            |path: &Path, source| PackageError::Files { path: path.display().to_string(), source };
        let partial = self.installer.root.join(self.installer.directory).join(".partial");
        let parent = partial.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| folder::remove(&partial)).map_err(|e| failed(&partial, e))?;
        let packages = self.installer.packages;
        let fetched = match self.fetched.get(package) {
            Some(known) => folder::copy(known, &partial, packages.bounds),
            None => packages.fetch(package, &partial).await,
        };
        if fetched.is_err() {
            // What came of it is no use, and the error that matters is the first.
            let _ = folder::remove(&partial);
        }
        let left_out = fetched?;
        folder::remove(to).map_err(|e| failed(to, e))?;
        fs::rename(&partial, to).map_err(|e| failed(to, e))?;
        self.fetched.insert(package.clone(), to.to_owned());
        Ok(left_out)
    }

    /// File and line of a call.
    fn place(&self, call: &ModuleCall) -> String {
        let (file, at) = (call.span.file, call.span.start);
        format!("{}:{}", self.sources.name(file), self.sources.position(file, at).line)
    }
}

/// Where a module is, in which version, and what it is.
type Installation = Result<(PathBuf, Option<Version>, Identity), Refusal>;

/// Why a call is not installed.
struct Refusal {
    diagnostic: Box<Diagnostic>,
    /// Whether it may be in a moment.
    may_pass: bool,
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal { diagnostic: Box::new(diagnostic), may_pass: false }
    }
}

impl Refusal {
    fn of(call: &ModuleCall, summary: &str, detail: String) -> Refusal {
        Diagnostic::error(summary, detail).at(call.span).into()
    }

    fn passing(self, may_pass: bool) -> Refusal {
        Refusal { may_pass, ..self }
    }
}

/// The calls of a module, the first by name on top.
fn push_calls(waiting: &mut Vec<(Arc<Caller>, Arc<str>)>, caller: Arc<Caller>) {
    let mut names: Vec<Arc<str>> = caller.module.module_calls.keys().cloned().collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    waiting.extend(names.into_iter().map(|name| (caller.clone(), name)));
}

/// Whether a call leads back to a module that led to it.
fn refuse_circle(
    caller: &Arc<Caller>,
    call: &ModuleCall,
    identity: &Identity,
) -> Result<(), Refusal> {
    let refused = |detail: String| Err(Refusal::of(call, "Module calls itself", detail));
    let is_root = matches!(identity, Identity::Folder(folder) if folder == Path::new("."));
    let same = |caller: &&Arc<Caller>| match &caller.source {
        Some((_, known)) => known == identity,
        None => is_root,
    };
    if caller.lineage().any(|caller| same(&caller)) {
        let what = match identity {
            Identity::Folder(folder) => folder.display().to_string(),
            Identity::Package(package) => masked(&package.to_string()),
        };
        return refused(format!(
            "The module in {what} is called from within itself. A module that contains itself would have no end: remove one of the calls."
        ));
    }
    let packages = caller.lineage().filter(|caller| {
        matches!(&caller.source, Some((ModuleSource::Registry(_) | ModuleSource::Remote(_), _)))
    });
    match packages.count() >= PACKAGES_IN_A_ROW {
        true => refused(format!(
            "More than {PACKAGES_IN_A_ROW} packages call each other in a row, which looks like a module that contains itself."
        )),
        false => Ok(()),
    }
}

/// The package that a relative path from a module in it leads out of.
fn escapes_package(caller: &Arc<Caller>, relative: &str) -> Option<ModuleSource> {
    let mut steps = vec![relative.to_owned()];
    for caller in caller.lineage() {
        let (source, _) = caller.source.as_ref()?;
        let start = match source {
            ModuleSource::Local(path) => {
                steps.push(path.to_string());
                continue;
            }
            ModuleSource::Registry(module) => &module.subdirectory,
            ModuleSource::Remote(module) => &module.subdirectory,
        };
        let mut depth = start.split('/').filter(|part| !matches!(*part, "" | ".")).count();
        for part in steps.iter().rev().flat_map(|step| step.split('/')) {
            match part {
                "" | "." => {}
                ".." => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Some(source.clone()),
                },
                _ => depth += 1,
            }
        }
        return None;
    }
    None
}

fn escaped_error(path: &ModulePath, package: &ModuleSource) -> Diagnostic {
    let (address, is_absolute) = match package {
        ModuleSource::Remote(module) => {
            (masked(&module.package), module.package.starts_with("file://"))
        }
        ModuleSource::Registry(module) => (module.package(), false),
        ModuleSource::Local(path) => (path.to_string(), false),
    };
    let more = match is_absolute {
        true => {
            "\n\nTerraform treats absolute filesystem paths as external modules which establish a new module package. To treat this directory as part of the same package as its caller, use a local path starting with either \"./\" or \"../\"."
        }
        false => "",
    };
    Diagnostic::error(
        "Local module path escapes module package",
        format!(
            "The given source directory for {path} would be outside of its containing package \"{address}\". Local source addresses starting with \"../\" must stay within the same package that the calling module belongs to.{more}"
        ),
    )
}

/// A folder and a path from it, with `.` and `..` resolved by name.
fn clean_join(folder: &Path, relative: &str) -> PathBuf {
    let mut joined = PathBuf::new();
    for component in folder.join(relative).components() {
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
