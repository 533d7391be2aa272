//! Reading of a root module and all that it calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use values::address::ModulePath;

use super::assemble::assemble;
use super::file::ModuleFile;
use super::manifest::{ModuleManifest, ModuleRecord, join};
use super::module_call::ModuleCall;
use super::source_address::ModuleSource;
use super::tree::{Configuration, ModuleNode};
use super::{Module, provider_validation};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::files::{FileKind, FileSystem};
use crate::source::Sources;
use crate::syntax::ast::with_stack;
use crate::syntax::{parse_body, parse_json_body};
use crate::version::{COMPATIBLE_TERRAFORM_VERSION, Version, VersionConstraints};

/// What loading may rely on.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    /// Which modules are installed.
    pub installed: InstalledModules<'a>,
}

/// Which modules are installed.
#[derive(Clone, Copy, Debug, Default)]
pub enum InstalledModules<'a> {
    /// Local paths are followed without asking: what `init` does.
    #[default]
    Local,
    /// Only what the manifest lists, as every other command of Terraform has it.
    Listed(&'a ModuleManifest),
}

/// Reads the module in a directory and all that it calls, and checks all that can be checked
/// without a provider's schema, but for references
/// ([`validate_references`](super::validate_references)).
///
/// With errors the configuration holds what could be understood, fit for looking at, not for use.
pub fn load(
    files: &dyn FileSystem,
    directory: &Path,
    sources: Arc<Sources>,
    options: LoadOptions<'_>,
) -> (Configuration, Diagnostics) {
    let mut loader = Loader {
        files,
        sources: &sources,
        options,
        known: HashMap::new(),
        diagnostics: Diagnostics::new(),
    };
    let (module, diagnostics) = loader.module(&join(directory, "."));
    loader.diagnostics.extend(diagnostics);
    // What a broken module calls is not looked at.
    let children = match loader.diagnostics.has_errors() {
        true => IndexMap::new(),
        false => loader.children(&module, &ModulePath::root(), &mut Vec::new()),
    };
    let mut diagnostics = loader.diagnostics;
    let root =
        ModuleNode { path: ModulePath::root(), module, children, source: None, call_span: None };
    let configuration = Configuration { root: Arc::new(root), sources };
    for check in [provider_validation::validate, check_versions] {
        if diagnostics.has_errors() {
            break;
        }
        diagnostics.extend(check(&configuration));
    }
    (configuration, diagnostics)
}

/// Reads the module in a directory, without what it calls.
pub fn read_module(
    files: &dyn FileSystem,
    directory: &Path,
    sources: &Sources,
) -> (Module, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let here = shown_directory(directory);
    let Ok(entries) = files.read_directory(here) else {
        diagnostics.push(Diagnostic::error(
            "Failed to read module directory",
            format!("Module directory {} does not exist or cannot be read.", here.display()),
        ));
        let module = Module { directory: directory.to_owned(), ..Module::default() };
        return (module, diagnostics);
    };
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|entry| entry.kind != FileKind::Directory)
        .filter_map(|entry| entry.name.into_string().ok())
        .filter(|name| is_configuration(name))
        .collect();
    names.sort_by_key(|name| (is_override(name), name.clone()));
    let mut decoded = Vec::new();
    for name in names {
        decoded.extend(read_file(files, &directory.join(&name), &name, sources, &mut diagnostics));
    }
    let (module, more) = assemble(directory.to_owned(), decoded, sources);
    diagnostics.extend(more);
    (module, diagnostics)
}

fn read_file(
    files: &dyn FileSystem,
    path: &Path,
    name: &str,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Option<ModuleFile> {
    let shown = path.to_string_lossy().replace('\\', "/");
    let Ok(text) = files.read(path) else {
        diagnostics.push(Diagnostic::error(
            "Failed to read file",
            format!("The file \"{shown}\" could not be read."),
        ));
        return None;
    };
    let file = sources.add(shown, text);
    let (body, more) = match name.ends_with(".json") {
        true => parse_json_body(sources, file),
        false => parse_body(sources, file),
    };
    diagnostics.extend(more);
    let (decoded, more) = ModuleFile::decode(body, sources, is_override(name));
    diagnostics.extend(more);
    Some(decoded)
}

struct Loader<'a> {
    files: &'a dyn FileSystem,
    sources: &'a Sources,
    options: LoadOptions<'a>,
    /// A directory that is called many times is read once.
    known: HashMap<PathBuf, (Arc<Module>, Diagnostics)>,
    diagnostics: Diagnostics,
}

impl Loader<'_> {
    /// The module in a directory, with what is wrong in its files.
    fn module(&mut self, directory: &Path) -> (Arc<Module>, Diagnostics) {
        if let Some(known) = self.known.get(directory) {
            return known.clone();
        }
        let (module, diagnostics) = read_module(self.files, directory, self.sources);
        let known = (Arc::new(module), diagnostics);
        self.known.insert(directory.to_owned(), known.clone());
        known
    }

    fn children(
        &mut self,
        module: &Arc<Module>,
        path: &ModulePath,
        ancestors: &mut Vec<PathBuf>,
    ) -> IndexMap<Arc<str>, Arc<ModuleNode>> {
        ancestors.push(module.directory.clone());
        let mut calls: Vec<&ModuleCall> = module.module_calls.values().collect();
        calls.sort_by(|a, b| a.name.cmp(&b.name));
        let mut children = IndexMap::with_capacity(calls.len());
        for call in calls {
            let child = with_stack(|| self.child(module, call, path, ancestors));
            children.extend(child.map(|node| (call.name.clone(), Arc::new(node))));
        }
        ancestors.pop();
        children
    }

    fn child(
        &mut self,
        caller: &Module,
        call: &ModuleCall,
        path: &ModulePath,
        ancestors: &mut Vec<PathBuf>,
    ) -> Option<ModuleNode> {
        let path = path.child(call.name.clone());
        let directory = self.child_directory(caller, call, &path)?;
        if ancestors.contains(&directory) {
            let detail = format!(
                "The module in {} is called from within itself. A module that contains itself would have no end: remove one of the calls.",
                shown_directory(&directory).display()
            );
            self.diagnostics.push(Diagnostic::error("Module calls itself", detail).at(call.span));
            return None;
        }
        let kind = self.files.kind(shown_directory(&directory));
        if !matches!(kind, Ok(FileKind::Directory)) {
            let directory = shown_directory(&directory).display();
            let diagnostic = match self.options.installed {
                InstalledModules::Local => Diagnostic::error(
                    "Unreadable module directory",
                    format!(
                        "The directory {directory} could not be read for module \"{}\" at {}:{}.",
                        call.name,
                        self.sources.name(call.span.file),
                        self.sources.position(call.span.file, call.span.start).line
                    ),
                ),
                InstalledModules::Listed(_) => Diagnostic::error(
                    "Module not installed",
                    format!(
                        "This module's local cache directory {directory} could not be read. Run \"plumb init\" to install all modules required by this configuration."
                    ),
                ),
            };
            self.diagnostics.push(diagnostic.at(call.span));
            return None;
        }
        let (module, diagnostics) = self.module(&directory);
        self.diagnostics.extend(diagnostics);
        let children = self.children(&module, &path, ancestors);
        self.check_child(&module, &path);
        Some(ModuleNode {
            path,
            module,
            children,
            source: call.source.clone(),
            call_span: Some(call.span),
        })
    }

    /// Where a called module is; `None` after an error.
    fn child_directory(
        &mut self,
        caller: &Module,
        call: &ModuleCall,
        path: &ModulePath,
    ) -> Option<PathBuf> {
        let source = call.source.as_ref()?;
        if let InstalledModules::Listed(manifest) = self.options.installed {
            let Some(record) = manifest.get(path) else {
                self.diagnostics.push(not_installed(call));
                return None;
            };
            if let Some(changed) = changed_since(record, source, call) {
                self.diagnostics.push(changed);
                return None;
            }
            return record.directory.to_str().map(|text| join(Path::new(""), text));
        }
        match source {
            ModuleSource::Local(relative) => Some(join(&caller.directory, relative)),
            ModuleSource::Registry(_) | ModuleSource::Remote(_) => {
                self.diagnostics.push(not_installed(call));
                None
            }
        }
    }

    fn check_child(&mut self, module: &Module, path: &ModulePath) {
        if let Some(backend) = module.settings.backend() {
            self.diagnostics.push(Diagnostic::warning(
                "Backend configuration ignored",
                "Any selected backend applies to the entire configuration, so Terraform expects provider configurations only in the root module.\n\nThis is a warning rather than an error because it's sometimes convenient to temporarily call a root module as a child module for testing purposes, but this backend configuration block will have no effect.",
            ).at(backend.span));
        }
        if let Some(import) = module.imports.first() {
            self.diagnostics.push(Diagnostic::error(
                "Invalid import configuration",
                format!("An import block was detected in \"{path}\". Import blocks are only allowed in the root module."),
            ).at(import.span));
        }
    }
}

fn not_installed(call: &ModuleCall) -> Diagnostic {
    Diagnostic::error(
        "Module not installed",
        "This module is not yet installed. Run \"plumb init\" to install all modules required by this configuration.",
    )
    .at(call.span)
}

/// Why what is installed is not what a call asks for; `None` where it is.
fn changed_since(
    record: &ModuleRecord,
    source: &ModuleSource,
    call: &ModuleCall,
) -> Option<Diagnostic> {
    let changed = |summary: &str, detail: String| {
        let detail = format!(
            "{detail} Run \"plumb init\" to install all modules required by this configuration."
        );
        Some(Diagnostic::error(summary, detail).at(call.source_span.unwrap_or(call.span)))
    };
    if record.source != source.to_string() {
        return changed(
            "Module source has changed",
            "The source address was changed since this module was installed.".to_owned(),
        );
    }
    let requirements = "The version requirements have changed since this module was installed and the installed version";
    match (&call.version, record.installed_version()) {
        (Some(_), None) => changed(
            "Module version requirements have changed",
            format!("{requirements} is no longer acceptable."),
        ),
        (Some(wanted), Some(version)) if !wanted.constraints.matches(&version) => changed(
            "Module version requirements have changed",
            format!("{requirements} ({version}) is no longer acceptable."),
        ),
        _ => None,
    }
}

/// The working directory has a name only where one must be shown or opened.
fn shown_directory(directory: &Path) -> &Path {
    match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    }
}

/// Whether a file is part of a module; hidden files and editors' backups are not.
fn is_configuration(name: &str) -> bool {
    let ignored = name.starts_with('.')
        || name.ends_with('~')
        || (name.starts_with('#') && name.ends_with('#'));
    !ignored && base_name(name).is_some()
}

fn base_name(name: &str) -> Option<&str> {
    name.strip_suffix(".tf").or_else(|| name.strip_suffix(".tf.json"))
}

fn is_override(name: &str) -> bool {
    base_name(name).is_some_and(|base| base == "override" || base.ends_with("_override"))
}

/// Whether every module takes the Terraform version whose language this is.
fn check_versions(configuration: &Configuration) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let Ok(version) = COMPATIBLE_TERRAFORM_VERSION.parse::<Version>() else { return diagnostics };
    for node in configuration.modules() {
        for requirement in &node.module.settings.required_version {
            let before = diagnostics.len();
            for constraint in VersionConstraints::prereleases(&requirement.text) {
                diagnostics.push(Diagnostic::error(
                    "Invalid required_version constraint",
                    format!(
                        "Prerelease version constraints are not supported: {constraint}. Remove the prerelease information from the constraint. Prerelease versions of terraform will match constraints using their version core only."
                    ),
                ).at(requirement.span));
            }
            if diagnostics.len() > before || requirement.constraints.matches(&version) {
                continue;
            }
            let who = match &node.source {
                None => "This configuration".to_owned(),
                Some(source) => format!("Module {} (from {source})", node.path),
            };
            diagnostics.push(Diagnostic::error(
                "Unsupported Terraform Core version",
                format!(
                    "{who} does not support Terraform version {version}. To proceed, either choose another supported Terraform version or update this version constraint. Version constraints are normally set for good reason, so updating the constraint may lead to other errors or unexpected behavior."
                ),
            ).at(requirement.span));
        }
    }
    diagnostics
}
