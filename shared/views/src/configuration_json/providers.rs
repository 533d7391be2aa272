//! Provider configurations of all modules in one map, under keys that resources name.

use super::expressions::body;
use super::{Object, set, set_text};
use crate::json::Json;
use ::providers::install::VersionConstraints;
use language::module::{Configuration, LocalProviderConfig, ModuleNode, ProviderRequirements};
use std::collections::BTreeMap;
use values::address::{ModulePath, ProviderAddress};

/// Every configuration by its key; those that a module takes over from its caller are known by the
/// key of the one that they stand for.
pub(super) struct ProviderConfigs(BTreeMap<String, ProviderConfig>);

struct ProviderConfig {
    name: String,
    provider: String,
    alias: Option<String>,
    constraint: String,
    module: ModulePath,
    expressions: Json,
    /// The key of the configuration that this one stands for.
    source: Option<String>,
}

fn key(name: &str, module: &ModulePath) -> String {
    match module.is_root() {
        true => name.to_owned(),
        false => format!("{module}:{name}"),
    }
}

/// The constraints that one module puts on a provider, in their normal form.
fn constraint(requirements: &ProviderRequirements, provider: &ProviderAddress) -> String {
    let given = requirements.get(provider).into_iter().flatten();
    let constraints = given.filter_map(|requirement| requirement.text.parse().ok());
    constraints
        .fold(VersionConstraints::default(), |all, more: VersionConstraints| all.and(&more))
        .to_string()
}

impl ProviderConfigs {
    pub(super) fn of(configuration: &Configuration) -> Self {
        let mut configs = Self(BTreeMap::new());
        configs.add(&configuration.root, None);
        configs
    }

    fn add(&mut self, node: &ModuleNode, parent: Option<&ModulePath>) {
        let module = &node.module;
        let requirements = module.provider_requirements();
        let new = |name: &str, provider: &ProviderAddress| ProviderConfig {
            name: name.to_owned(),
            provider: provider.to_string(),
            alias: None,
            constraint: String::new(),
            module: node.path.clone(),
            expressions: Json::object::<&str>([]),
            source: None,
        };
        for config in module.provider_configs.values() {
            let provider = module.provider_for_local_name(&config.local_name);
            let entry = ProviderConfig {
                alias: config.alias.as_ref().map(ToString::to_string),
                constraint: constraint(&requirements, &provider),
                expressions: body(&config.config, None),
                ..new(&config.local_name, &provider)
            };
            self.0.insert(key(&config.address().to_string(), &node.path), entry);
        }
        for required in module.settings.required_providers.values() {
            let (name, provider) = (&required.local_name, &required.provider);
            let constraint = constraint(&requirements, provider);
            for alias in &required.configuration_aliases {
                let entry =
                    ProviderConfig { constraint: constraint.clone(), ..new(name, provider) };
                self.0.entry(key(&alias.to_string(), &node.path)).or_insert(entry);
            }
            let source = self.inherited(name, parent, provider);
            let entry = ProviderConfig { constraint, source, ..new(name, provider) };
            self.0.entry(key(name, &node.path)).or_insert(entry);
        }
        // A provider without a block is known by its own name.
        for provider in requirements.keys() {
            let source = self.inherited(&provider.ty, parent, provider);
            let entry = ProviderConfig { source, ..new(&provider.ty, provider) };
            self.0.entry(key(&provider.ty, &node.path)).or_insert(entry);
        }
        for (name, child) in &node.children {
            let passed = module.module_calls.get(name).into_iter().flat_map(|call| &call.providers);
            for passed in passed {
                let in_child = passed.in_child.config.to_string();
                let provider =
                    child.module.provider_for_local_name(&passed.in_child.config.local_name);
                let parent_key = key(&passed.in_parent.config.to_string(), &node.path);
                let entry = ProviderConfig {
                    module: child.path.clone(),
                    source: self.source(parent_key, &provider.to_string()),
                    ..new(&in_child, &provider)
                };
                self.0.insert(key(&in_child, &child.path), entry);
            }
            crate::json::deep(|| self.add(child, Some(&node.path)));
        }
    }

    fn inherited(
        &self,
        name: &str,
        parent: Option<&ModulePath>,
        provider: &ProviderAddress,
    ) -> Option<String> {
        self.source(key(name, parent?), &provider.to_string())
    }

    /// The last configuration of the same provider on the way that begins at a key.
    fn source(&self, start: String, provider: &str) -> Option<String> {
        let mut found = None;
        let mut next = Some(start);
        while let Some(key) = next {
            let Some(config) = self.0.get(&key).filter(|config| config.provider == provider) else {
                break;
            };
            next = config.source.clone();
            found = Some(key);
        }
        found
    }

    /// The key that a resource of a module names its configuration by.
    pub(super) fn key_for(&self, module: &ModulePath, config: &LocalProviderConfig) -> String {
        let own = key(&config.to_string(), module);
        match self.0.get(&own).and_then(|config| config.source.clone()) {
            Some(source) => source,
            None => own,
        }
    }

    pub(super) fn to_json(&self) -> Json {
        let own = self.0.iter().filter(|(_, config)| config.source.is_none());
        Json::object(own.map(|(key, config)| (key.as_str(), config.to_json())))
    }
}

impl ProviderConfig {
    fn to_json(&self) -> Json {
        let mut object = Object::new();
        set_text(&mut object, "name", &self.name);
        set_text(&mut object, "full_name", &self.provider);
        set_text(&mut object, "alias", self.alias.as_deref().unwrap_or_default());
        set_text(&mut object, "version_constraint", &self.constraint);
        set_text(&mut object, "module_address", &self.module.to_string());
        set(&mut object, "expressions", self.expressions.clone());
        Json::object(object)
    }
}
