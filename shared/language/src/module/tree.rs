//! The tree of modules, and which provider configuration each resource has.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use values::address::{ConfigResource, ModulePath, ProviderAddress, ProviderConfigAddress};

use super::provider::{LocalProviderConfig, ProviderConfig};
use super::settings::VersionRequirement;
use super::{Module, ModuleSource, ResourceBlock};
use crate::source::{Sources, Span};

/// A root module and all modules under it.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The root module.
    pub root: Arc<ModuleNode>,
    /// The texts that all spans count in.
    pub sources: Arc<Sources>,
}

/// One module of the tree.
#[derive(Debug)]
pub struct ModuleNode {
    /// The names of the calls that lead here.
    pub path: ModulePath,
    /// Its declarations; shared by all calls of one directory.
    pub module: Arc<Module>,
    /// The modules that it calls, by the name of the call. A call whose module could not be loaded
    /// is absent here, and was reported.
    pub children: IndexMap<Arc<str>, Arc<ModuleNode>>,
    /// The source address of the call; `None` for the root.
    pub source: Option<ModuleSource>,
    /// The header of the call; `None` for the root.
    pub call_span: Option<Span>,
}

/// The providers that a configuration needs, with every constraint on their version.
pub type ProviderRequirements = BTreeMap<ProviderAddress, Vec<VersionRequirement>>;

impl Configuration {
    /// The module at a path.
    pub fn get(&self, path: &ModulePath) -> Option<&Arc<ModuleNode>> {
        path.0.iter().try_fold(&self.root, |node, name| node.children.get(name))
    }

    /// All modules, a caller before what it calls.
    pub fn modules(&self) -> impl Iterator<Item = &Arc<ModuleNode>> {
        let mut waiting = vec![&self.root];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend(node.children.values().rev());
            Some(node)
        })
    }

    /// A resource's block.
    pub fn resource(&self, address: &ConfigResource) -> Option<&ResourceBlock> {
        self.get(&address.module)?.module.resources.get(&address.resource)
    }

    /// The provider configuration of a declared resource: where it is declared, after following
    /// `providers` maps and inheritance to the module that has it. Need not have a block: a
    /// provider without one is configured with nothing. `None` for a resource not declared.
    pub fn provider_for(&self, address: &ConfigResource) -> Option<ProviderConfigAddress> {
        let config = self.resource(address)?.provider_config();
        self.resolve_provider(&address.module, &config)
    }

    /// What a module means by a provider configuration.
    pub fn resolve_provider(
        &self,
        module: &ModulePath,
        config: &LocalProviderConfig,
    ) -> Option<ProviderConfigAddress> {
        let mut lineage = vec![&self.root];
        for name in module.0.iter() {
            let child = lineage.last()?.children.get(name)?;
            lineage.push(child);
        }
        let provider = lineage.last()?.module.provider_for_local_name(&config.local_name);
        let mut config = config.clone();
        while let Some(node) = lineage.pop() {
            let Some(parent) = lineage.last() else {
                return Some(ProviderConfigAddress {
                    module: node.path.clone(),
                    provider,
                    alias: config.alias,
                });
            };
            if node.module.provider_configs.contains_key(&config) {
                return Some(ProviderConfigAddress {
                    module: node.path.clone(),
                    provider,
                    alias: config.alias,
                });
            }
            let call = node.path.name().and_then(|name| parent.module.module_calls.get(name))?;
            let passed = call.providers.iter().find(|passed| passed.in_child.config == config);
            config = match passed {
                Some(passed) => passed.in_parent.config.clone(),
                // Only what has no alias is inherited.
                None if config.alias.is_some() => {
                    return Some(ProviderConfigAddress {
                        module: node.path.clone(),
                        provider,
                        alias: config.alias,
                    });
                }
                // Inherited: the caller may have another local name for the same provider.
                None => LocalProviderConfig {
                    local_name: parent.module.local_name_for_provider(&provider),
                    alias: None,
                },
            };
        }
        None
    }

    /// The block of a provider configuration, if it has one.
    pub fn provider_config(&self, address: &ProviderConfigAddress) -> Option<&ProviderConfig> {
        let node = self.get(&address.module)?;
        node.module.provider_configs.values().find(|config| {
            config.alias == address.alias
                && node.module.provider_for_local_name(&config.local_name) == address.provider
        })
    }

    /// Every provider configuration that has a block, a caller's before those of what it calls.
    pub fn provider_configs(
        &self,
    ) -> impl Iterator<Item = (ProviderConfigAddress, &ProviderConfig)> {
        self.modules().flat_map(|node| {
            node.module.provider_configs.values().map(|config| {
                let address = ProviderConfigAddress {
                    module: node.path.clone(),
                    provider: node.module.provider_for_local_name(&config.local_name),
                    alias: config.alias.clone(),
                };
                (address, config)
            })
        })
    }

    /// The providers that any module needs: required, configured, or implied by a resource.
    pub fn provider_requirements(&self) -> ProviderRequirements {
        let mut requirements = ProviderRequirements::new();
        for node in self.modules() {
            node.module.add_provider_requirements(&mut requirements);
        }
        requirements
    }
}

impl Module {
    /// What a local name means in this module.
    pub fn provider_for_local_name(&self, local_name: &str) -> ProviderAddress {
        match self.settings.required_providers.get(local_name) {
            Some(required) => required.provider.clone(),
            None => ProviderAddress::implied(local_name),
        }
    }

    /// What this module calls a provider.
    pub fn local_name_for_provider(&self, provider: &ProviderAddress) -> Arc<str> {
        self.settings
            .required_providers
            .values()
            .find(|required| required.provider == *provider)
            .map_or_else(|| provider.ty.clone(), |required| required.local_name.clone())
    }

    /// The providers that this module itself needs.
    pub fn provider_requirements(&self) -> ProviderRequirements {
        let mut requirements = ProviderRequirements::new();
        self.add_provider_requirements(&mut requirements);
        requirements
    }

    fn add_provider_requirements(&self, requirements: &mut ProviderRequirements) {
        for required in self.settings.required_providers.values() {
            let versions = requirements.entry(required.provider.clone()).or_default();
            versions.extend(required.version.clone());
        }
        for config in self.provider_configs.values() {
            let provider = self.provider_for_local_name(&config.local_name);
            requirements.entry(provider).or_default().extend(config.version.clone());
        }
        // Thousands of resources share a few local names.
        let local_names: std::collections::BTreeSet<Arc<str>> =
            self.resources.values().map(|block| block.provider_config().local_name).collect();
        for local_name in local_names {
            requirements.entry(self.provider_for_local_name(&local_name)).or_default();
        }
        for import in &self.imports {
            if let Some(reference) = &import.provider {
                let provider = self.provider_for_local_name(&reference.config.local_name);
                requirements.entry(provider).or_default();
            }
        }
    }
}
