//! Files into a module: primary files are joined, override files merged into them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use values::address::{Resource, ResourceMode};

use super::decoder::Decoder;
use super::file::ModuleFile;
use super::output::{Local, Output};
use super::refactoring::Import;
use super::settings::{Backend, Cloud, ProviderMeta, RequiredProvider, SettingsBlocks, Storage};
use super::{Module, ResourceBlock, Settings, Variable};
use crate::diagnostics::Diagnostics;
use crate::source::{Sources, Span};

/// Puts a module together, primary files first.
pub(super) fn assemble(
    directory: PathBuf,
    files: Vec<ModuleFile>,
    sources: &Sources,
) -> (Module, Diagnostics) {
    let mut assembly = Assembly {
        module: Module { directory, ..Module::default() },
        decoder: Decoder::new(sources, false),
        imported: HashMap::new(),
    };
    let (overriding, primary): (Vec<_>, Vec<_>) = files.into_iter().partition(|f| f.overriding);
    for file in primary {
        assembly.append(file);
    }
    for file in overriding {
        assembly.merge(file);
    }
    assembly.check_providers_of_imports();
    (assembly.module, assembly.decoder.diagnostics)
}

struct Assembly<'s> {
    module: Module,
    decoder: Decoder<'s>,
    /// Where each address is imported, so that many imports stay cheap.
    imported: HashMap<String, Span>,
}

impl Assembly<'_> {
    fn append(&mut self, file: ModuleFile) {
        self.append_settings(file.settings);
        for config in file.providers {
            let address = config.address();
            let Some(first) = self.module.provider_configs.get(&address) else {
                self.module.provider_configs.insert(address, config);
                continue;
            };
            let place = self.decoder.place(first.span);
            let name = &config.local_name;
            let detail = match &config.alias {
                None => format!(
                    "A default (non-aliased) provider configuration for \"{name}\" was already given at {place}. If multiple configurations are required, set the \"alias\" argument for alternative configurations."
                ),
                Some(alias) => format!(
                    "A provider configuration for \"{name}\" with alias \"{alias}\" was already given at {place}. Each configuration for the same provider must have a distinct alias."
                ),
            };
            self.decoder.error("Duplicate provider configuration", detail, config.span);
        }
        let Self { module, decoder, .. } = self;
        for block in file.variables {
            declare(
                decoder,
                &mut module.variables,
                Variable::from(block),
                |v| (&v.name, v.span),
                |name, place| {
                    (
                        "Duplicate variable declaration".to_owned(),
                        format!(
                            "A variable named \"{name}\" was already declared at {place}. Variable names must be unique within a module."
                        ),
                    )
                },
            );
        }
        for local in file.locals {
            declare(
                decoder,
                &mut module.locals,
                local,
                |l: &Local| (&l.name, l.span),
                |name, place| {
                    (
                        "Duplicate local value definition".to_owned(),
                        format!(
                            "A local value named \"{name}\" was already defined at {place}. Local value names must be unique within a module."
                        ),
                    )
                },
            );
        }
        for block in file.outputs {
            declare(
                decoder,
                &mut module.outputs,
                Output::from(block),
                |o| (&o.name, o.span),
                |name, place| {
                    (
                        "Duplicate output definition".to_owned(),
                        format!(
                            "An output named \"{name}\" was already defined at {place}. Output names must be unique within a module."
                        ),
                    )
                },
            );
        }
        for call in file.module_calls {
            declare(
                decoder,
                &mut module.module_calls,
                call,
                |c| (&c.name, c.span),
                |name, place| {
                    (
                        "Duplicate module call".to_owned(),
                        format!(
                            "A module call named \"{name}\" was already defined at {place}. Module calls must have unique names within a module."
                        ),
                    )
                },
            );
        }
        for resource in file.resources {
            self.append_resource(resource, "");
        }
        for (check, data) in file.checks {
            if let Some(data) = data
                && !self.append_resource(data, ", including within check blocks")
            {
                continue;
            }
            let Self { module, decoder, .. } = self;
            declare(
                decoder,
                &mut module.checks,
                check,
                |c| (&c.name, c.span),
                |name, place| {
                    (
                        format!("Duplicate check \"{name}\" configuration"),
                        format!(
                            "A check block named \"{name}\" was already declared at {place}. Check blocks must be unique within each module."
                        ),
                    )
                },
            );
        }
        self.module.moved.extend(file.moved);
        self.module.removed.extend(file.removed);
        for import in file.imports {
            self.append_import(import);
        }
    }

    fn append_settings(&mut self, found: SettingsBlocks) {
        let Self { module: Module { settings, .. }, decoder, .. } = self;
        settings.required_version.extend(found.required_version);
        for (providers, span) in found.required_providers {
            if let Some(first) = settings.required_providers_span {
                let place = decoder.place(first);
                decoder.error(
                    "Duplicate required providers configuration",
                    format!(
                        "A module may have only one required providers configuration. The required providers were previously configured at {place}."
                    ),
                    span,
                );
                continue;
            }
            settings.required_providers_span = Some(span);
            require(settings, providers);
        }
        append_storage(decoder, settings, found.backends, found.clouds);
        for meta in found.provider_metas {
            append_provider_meta(decoder, settings, meta);
        }
    }

    /// Whether the resource was not declared before.
    fn append_resource(&mut self, resource: ResourceBlock, scope: &str) -> bool {
        let Some(first) = self.module.resources.get(&resource.address) else {
            self.module.resources.insert(resource.address.clone(), resource);
            return true;
        };
        let place = self.decoder.place(first.span);
        let Resource { mode, ty, name } = &resource.address;
        let (block, noun) = match mode {
            ResourceMode::Managed => ("resource", "resource"),
            ResourceMode::Data => ("data", "data resource"),
            ResourceMode::Ephemeral => ("ephemeral", "ephemeral resource"),
        };
        self.decoder.error(
            format!("Duplicate {block} \"{ty}\" configuration"),
            format!(
                "A {ty} {noun} named \"{name}\" was already declared at {place}. Resource names must be unique per type in each module{scope}."
            ),
            resource.span,
        );
        false
    }

    fn append_import(&mut self, import: Import) {
        if let Some(address) = import.static_address() {
            match self.imported.get(&address) {
                Some(first) => {
                    let place = self.decoder.place(*first);
                    self.decoder.error(
                        format!("Duplicate import configuration for \"{address}\""),
                        format!(
                            "An import block for the resource \"{address}\" was already declared at {place}. A resource can have only one import block."
                        ),
                        import.to.span,
                    );
                }
                None => {
                    self.imported.insert(address, import.span);
                }
            }
        }
        self.module.imports.push(import);
    }

    /// A provider of an import block is for a configuration that is still to be written.
    fn check_providers_of_imports(&mut self) {
        let Self { module, decoder, .. } = self;
        let given = module.imports.iter().filter_map(|i| Some((&i.target, i.provider_span?)));
        for (target, span) in given {
            if target.module.is_root() && module.resources.contains_key(&target.resource) {
                decoder.error(
                    "Invalid import provider argument",
                    "The provider argument can only be specified in import blocks that will generate configuration.\n\nUse the provider argument in the target resource block to configure the provider for a resource with explicit provider configuration.",
                    span,
                );
            }
        }
    }

    fn merge(&mut self, file: ModuleFile) {
        self.merge_settings(file.settings);
        let Self { module, decoder, .. } = self;
        for config in file.providers {
            let address = config.address();
            match module.provider_configs.get_mut(&address) {
                Some(base) => base.merge(config),
                // Without a block a default configuration is an empty one.
                None if config.alias.is_none() => {
                    module.provider_configs.insert(address, config);
                }
                None => {
                    let (name, alias) = (&config.local_name, config.alias.as_deref().unwrap_or(""));
                    decoder.error(
                        "Missing base provider configuration for override",
                        format!(
                            "There is no {name} provider configuration with the alias \"{alias}\". An override file can only override an aliased provider configuration that was already defined in a primary configuration file."
                        ),
                        config.span,
                    );
                }
            }
        }
        for block in file.variables {
            match module.variables.get_mut(&block.name) {
                Some(base) => base.merge(block, decoder),
                None => decoder.error(
                    "Missing base variable declaration to override",
                    format!("There is no variable named \"{}\". An override file can only override a variable that was already declared in a primary configuration file.", block.name),
                    block.span,
                ),
            }
        }
        for local in file.locals {
            match module.locals.get_mut(&local.name) {
                Some(base) => *base = local,
                None => decoder.error(
                    "Missing base local value definition to override",
                    format!("There is no local value named \"{}\". An override file can only override a local value that was already defined in a primary configuration file.", local.name),
                    local.span,
                ),
            }
        }
        for block in file.outputs {
            match module.outputs.get_mut(&block.name) {
                Some(base) => base.merge(block, decoder),
                None => decoder.error(
                    "Missing base output definition to override",
                    format!("There is no output named \"{}\". An override file can only override an output that was already defined in a primary configuration file.", block.name),
                    block.span,
                ),
            }
        }
        for call in file.module_calls {
            match module.module_calls.get_mut(&call.name) {
                Some(base) => base.merge(call, decoder),
                None => decoder.error(
                    "Missing module call to override",
                    format!("There is no module call named \"{}\". An override file can only override a module call that was defined in a primary configuration file.", call.name),
                    call.span,
                ),
            }
        }
        for resource in file.resources {
            if let Some(base) = module.resources.get_mut(&resource.address) {
                base.merge(resource, decoder);
                continue;
            }
            let Resource { mode, ty, name } = &resource.address;
            let (noun, block) = match mode {
                ResourceMode::Managed => ("resource", "resource"),
                ResourceMode::Data => ("data resource", "data"),
                ResourceMode::Ephemeral => ("ephemeral resource", "ephemeral"),
            };
            decoder.error(
                format!("Missing {noun} to override"),
                format!("There is no {ty} {noun} named \"{name}\". An override file can only override a {block} block defined in a primary configuration file."),
                resource.span,
            );
        }
        for (summary, detail, span) in file.not_overridable {
            decoder.error(summary, detail, span);
        }
    }

    fn merge_settings(&mut self, found: SettingsBlocks) {
        let Self { module: Module { settings, .. }, decoder, .. } = self;
        if !found.required_version.is_empty() {
            settings.required_version = found.required_version;
        }
        for (providers, _) in found.required_providers {
            require(settings, providers);
        }
        if let [first, second, ..] = found.backends.as_slice() {
            let place = decoder.place(first.span);
            decoder.error(
                "Duplicate backend configuration",
                format!("Each override file may have only one backend configuration. A backend was previously configured at {place}."),
                second.span,
            );
        } else if let Some(backend) = found.backends.into_iter().next() {
            settings.storage = Some(Storage::Backend(backend));
        }
        if let [first, second, ..] = found.clouds.as_slice() {
            let place = decoder.place(first.span);
            decoder.error(DUPLICATE_CLOUD, duplicate_cloud(&place), second.span);
        } else if let Some(cloud) = found.clouds.into_iter().next() {
            settings.storage = Some(Storage::Cloud(cloud));
        }
    }
}

/// Declares something by name; of two with one name the last stays, and the first is named.
fn declare<T>(
    decoder: &mut Decoder<'_>,
    declared: &mut IndexMap<Arc<str>, T>,
    item: T,
    identify: impl Fn(&T) -> (&Arc<str>, Span),
    message: impl Fn(&str, &str) -> (String, String),
) {
    let (name, span) = identify(&item);
    let name = name.clone();
    if let Some(first) = declared.get(&name) {
        let place = decoder.place(identify(first).1);
        let (summary, detail) = message(&name, &place);
        decoder.error(summary, detail, span);
    }
    declared.insert(name, item);
}

fn require(settings: &mut Settings, providers: Vec<RequiredProvider>) {
    for provider in providers {
        settings.required_providers.insert(provider.local_name.clone(), provider);
    }
}

fn append_provider_meta(decoder: &mut Decoder<'_>, settings: &mut Settings, meta: ProviderMeta) {
    if let Some(first) = settings.provider_metas.get(&meta.local_name) {
        let place = decoder.place(first.span);
        decoder.error(
            "Duplicate provider_meta block",
            format!(
                "A provider_meta block for provider \"{}\" was already declared at {place}. Providers may only have one provider_meta block per module.",
                meta.local_name
            ),
            meta.span,
        );
    }
    settings.provider_metas.insert(meta.local_name.clone(), meta);
}

const DUPLICATE_CLOUD: &str = "Duplicate HCP Terraform configurations";

fn duplicate_cloud(place: &str) -> String {
    format!(
        "A module may have only one 'cloud' block configuring HCP Terraform or Terraform Enterprise. The 'cloud' block was previously configured at {place}."
    )
}

fn append_storage(
    decoder: &mut Decoder<'_>,
    settings: &mut Settings,
    backends: Vec<Backend>,
    clouds: Vec<Cloud>,
) {
    let mut backend = settings.backend().cloned();
    for next in backends {
        if let Some(first) = &backend {
            let place = decoder.place(first.span);
            decoder.error(
                "Duplicate backend configuration",
                format!("A module may have only one backend configuration. The backend was previously configured at {place}."),
                next.span,
            );
            continue;
        }
        backend = Some(next);
    }
    let mut cloud = settings.cloud().cloned();
    for next in clouds {
        if let Some(first) = &cloud {
            let place = decoder.place(first.span);
            decoder.error(DUPLICATE_CLOUD, duplicate_cloud(&place), next.span);
            continue;
        }
        cloud = Some(next);
    }
    if let (Some(backend), Some(cloud)) = (&backend, &cloud) {
        let (cloud, at) = (decoder.place(cloud.span), decoder.place(backend.span));
        decoder.error(
            "Both a backend and cloud configuration are present",
            format!("A module may declare either one 'cloud' block OR one 'backend' block configuring a state backend. The 'cloud' block is configured at {cloud}; a backend is configured at {at}. Remove the backend block to configure HCP Terraform or Terraform Enteprise."),
            backend.span,
        );
    }
    settings.storage = backend
        .map(Storage::Backend)
        .or_else(|| cloud.map(Storage::Cloud))
        .or(settings.storage.take());
}
