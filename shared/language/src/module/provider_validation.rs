//! Whether every module gets the provider configurations that it expects, and no others.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use values::address::ProviderAddress;

use super::module_call::{ModuleCall, PassedProvider};
use super::provider::LocalProviderConfig;
use super::tree::{Configuration, ModuleNode};
use super::{Module, Repetition};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::syntax::ast::with_stack;

pub(super) fn validate(configuration: &Configuration) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    validate_node(&configuration.root, None, None, &mut diagnostics);
    diagnostics
}

/// The call of a module, from the caller's side.
#[derive(Clone, Copy)]
struct Caller<'c> {
    node: &'c ModuleNode,
    call: &'c ModuleCall,
}

/// `no_configs` is where a call above uses what forbids configurations in the module.
fn validate_node(
    node: &ModuleNode,
    caller: Option<Caller<'_>>,
    no_configs: Option<Span>,
    diagnostics: &mut Diagnostics,
) {
    for (name, child) in &node.children {
        let Some(call) = node.module.module_calls.get(name) else { continue };
        let no_configs = match &call.repetition {
            Repetition::Count(expression) | Repetition::ForEach(expression) => {
                Some(expression.span)
            }
            Repetition::Single => call.depends_on.first().map(|first| first.span()).or(no_configs),
        };
        let caller = Caller { node, call };
        with_stack(|| validate_node(child, Some(caller), no_configs, diagnostics));
    }
    let names = Names::of(&node.module, caller.map(|caller| caller.call));
    let mut check = Check { node, names, diagnostics };
    check.duplicate_requirements();
    check.implied_names();
    check.passed_down(caller);
    if let Some(caller) = caller {
        check.own_configs(caller, no_configs);
        check.expected_aliases(caller);
        check.passed_in(caller);
        check.empty_configs();
    }
}

/// What the names of provider configurations mean in one module.
struct Names<'m> {
    /// Blocks with content.
    configured: IndexMap<LocalProviderConfig, Span>,
    /// Blocks without content: how modules once said that they expect a configuration.
    empty: IndexMap<LocalProviderConfig, Span>,
    /// `configuration_aliases`.
    aliases: IndexMap<LocalProviderConfig, ProviderAddress>,
    passed: IndexMap<LocalProviderConfig, &'m PassedProvider>,
}

impl<'m> Names<'m> {
    fn of(module: &Module, call: Option<&'m ModuleCall>) -> Self {
        let mut names = Names {
            configured: IndexMap::new(),
            empty: IndexMap::new(),
            aliases: IndexMap::new(),
            passed: IndexMap::new(),
        };
        for (address, config) in &module.provider_configs {
            let has_content = !config.config.attributes.is_empty()
                || !config.config.blocks.is_empty()
                || config.version.is_some();
            let list = if has_content { &mut names.configured } else { &mut names.empty };
            list.insert(address.clone(), config.span);
        }
        for required in module.settings.required_providers.values() {
            for alias in &required.configuration_aliases {
                names.aliases.insert(alias.clone(), required.provider.clone());
            }
        }
        for passed in call.into_iter().flat_map(|call| &call.providers) {
            names.passed.insert(passed.in_child.config.clone(), passed);
        }
        names
    }
}

struct Check<'c, 'd> {
    node: &'c ModuleNode,
    names: Names<'c>,
    diagnostics: &'d mut Diagnostics,
}

/// What a name means where nothing says so; unlike elsewhere, `terraform` is no exception.
fn default_provider(local_name: &str) -> ProviderAddress {
    ProviderAddress {
        host: ProviderAddress::DEFAULT_HOST.into(),
        namespace: "hashicorp".into(),
        ty: local_name.into(),
    }
}

fn is_default(provider: &ProviderAddress) -> bool {
    &*provider.host == ProviderAddress::DEFAULT_HOST && &*provider.namespace == "hashicorp"
}

fn module_text(node: &ModuleNode) -> String {
    match node.path.is_root() {
        true => "the root module".to_owned(),
        false => node.path.to_string(),
    }
}

impl Check<'_, '_> {
    fn warn(&mut self, summary: &str, detail: String, at: Span) {
        self.diagnostics.push(Diagnostic::warning(summary, detail).at(at));
    }

    fn error(&mut self, summary: &str, detail: String, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn required(&self, local_name: &str) -> Option<&ProviderAddress> {
        let required = self.node.module.settings.required_providers.get(local_name)?;
        Some(&required.provider)
    }

    fn duplicate_requirements(&mut self) {
        const SUMMARY: &str = "Duplicate required provider";
        let mut first_names: BTreeMap<&ProviderAddress, &str> = BTreeMap::new();
        let module = &self.node.module;
        for required in module.settings.required_providers.values() {
            let (provider, name) = (&required.provider, &*required.local_name);
            let shown = provider.for_display();
            if let Some(first) = first_names.get(provider) {
                let detail = format!(
                    "Provider {shown} with the local name \"{name}\" was previously required as \"{first}\". A provider can only be required once within required_providers."
                );
                self.diagnostics.push(Diagnostic::warning(SUMMARY, detail).at(required.span));
            } else if is_default(provider)
                && name != &*provider.ty
                && module.provider_configs.keys().any(|config| config.local_name == provider.ty)
            {
                let detail = format!(
                    "Provider {shown} with the local name \"{name}\" was implicitly required via a configuration block as \"{}\". The provider configuration block name must match the name used in required_providers.",
                    provider.ty
                );
                self.diagnostics.push(Diagnostic::warning(SUMMARY, detail).at(required.span));
            }
            first_names.entry(provider).or_insert(name);
        }
    }

    fn implied_names(&mut self) {
        let module = &self.node.module;
        let mut required_as: BTreeMap<&ProviderAddress, Vec<&str>> = BTreeMap::new();
        for required in module.settings.required_providers.values() {
            required_as.entry(&required.provider).or_default().push(&required.local_name);
        }
        if required_as.is_empty() {
            return;
        }
        for resource in module.resources.values().filter(|resource| resource.provider.is_none()) {
            let local_name = resource.address.implied_provider();
            if module.settings.required_providers.contains_key(local_name) {
                continue;
            }
            let implied = ProviderAddress::implied(local_name);
            for name in required_as.get(&implied).into_iter().flatten() {
                let detail = format!(
                    "Provider \"{implied}\" was implicitly required via resource \"{}\", but listed in required_providers as \"{name}\". Either the local name in required_providers must match the resource name, or the \"{name}\" provider must be assigned within the resource block.",
                    resource.address
                );
                let warning = Diagnostic::warning("Duplicate required provider", detail);
                self.diagnostics.push(warning.at(resource.span));
            }
        }
    }

    /// What this module passes to those that it calls.
    fn passed_down(&mut self, caller: Option<Caller<'_>>) {
        let node = self.node;
        let (own, parent) = (
            module_text(node),
            caller.map_or("the root module".to_owned(), |c| module_text(c.node)),
        );
        for passed in node.module.module_calls.values().flat_map(|call| &call.providers) {
            let in_parent = &passed.in_parent;
            // Aliases are never inherited: they are checked where they arrive.
            if in_parent.config.alias.is_some() {
                continue;
            }
            let name = &in_parent.config.local_name;
            let configured = self.names.configured.contains_key(&in_parent.config);
            let shown = default_provider(name).for_display();
            if !configured && self.required(name).is_none() {
                self.warn(
                    "Reference to undefined provider",
                    format!(
                        "There is no explicit declaration for local provider name \"{name}\" in {own}, so Terraform is assuming you mean to pass a configuration for provider \"{shown}\".\n\nTo clarify your intent and silence this warning, add to {parent} a required_providers entry named \"{name}\" with source = \"{shown}\", or a different source address if appropriate."
                    ),
                    in_parent.name_span,
                );
                continue;
            }
            if let Some(caller) = caller
                && !configured
                && !self.names.passed.contains_key(&in_parent.config)
            {
                self.warn(
                    "Missing required provider configuration",
                    format!(
                        "The configuration for {own} expects to inherit a configuration for provider {shown} with local name \"{name}\", but {parent} doesn't pass a configuration under that name.\n\nTo satisfy this requirement, add an entry for \"{name}\" to the \"providers\" argument in the module \"{}\" block.",
                        caller.call.name
                    ),
                    caller.call.span,
                );
            }
        }
    }

    fn own_configs(&mut self, caller: Caller<'_>, no_configs: Option<Span>) {
        let own = module_text(self.node);
        if let Some(at) = no_configs
            && !self.names.configured.is_empty()
        {
            let source = self.node.source.as_ref().map(ToString::to_string).unwrap_or_default();
            self.error(
                "Module is incompatible with count, for_each, and depends_on",
                format!(
                    "The module at {own} is a legacy module which contains its own local provider configurations, and so calls to it may not use the count, for_each, or depends_on arguments.\n\nIf you also control the module \"{source}\", consider updating this module to instead expect provider configurations to be passed by its caller."
                ),
                at,
            );
        }
        let parent = module_text(caller.node);
        let overridden: Vec<(String, Span)> = self
            .names
            .configured
            .keys()
            .filter_map(|name| {
                Some((name.to_string(), self.names.passed.get(name)?.in_child.name_span))
            })
            .collect();
        for (name, at) in overridden {
            self.error(
                "Cannot override provider configuration",
                format!(
                    "The configuration of {own} has its own local configuration for {name}, and so it cannot accept an overridden configuration provided by {parent}."
                ),
                at,
            );
        }
    }

    fn expected_aliases(&mut self, caller: Caller<'_>) {
        let missing: Vec<(LocalProviderConfig, String)> = self
            .names
            .aliases
            .iter()
            .filter(|(name, _)| {
                !self.names.configured.contains_key(*name) && !self.names.passed.contains_key(*name)
            })
            .map(|(name, provider)| (name.clone(), provider.for_display()))
            .collect();
        for (name, provider) in missing {
            self.error(
                "Missing required provider configuration",
                format!(
                    "The child module requires an additional configuration for provider {provider}, with the local name \"{name}\".\n\nRefer to the module's documentation to understand the intended purpose of this additional provider configuration, and then add an entry for {name} in the \"providers\" meta-argument in the module block to choose which provider configuration the module should use for that purpose."
                ),
                caller.call.span,
            );
        }
    }

    fn passed_in(&mut self, caller: Caller<'_>) {
        let (own, parent) = (module_text(self.node), module_text(caller.node));
        for passed in &caller.call.providers {
            let (child, given) = (&passed.in_child, &passed.in_parent);
            let name = &child.config;
            // An alias that the child does not expect says nothing of the provider.
            let required = match name.alias {
                None => self.required(&name.local_name),
                Some(_) => None,
            };
            let declared = required.is_some();
            let alias = self.names.aliases.get(name);
            let provider =
                alias.or(required).cloned().unwrap_or_else(|| default_provider(&name.local_name));
            if !declared && alias.is_none() && !self.names.empty.contains_key(name) {
                let shown = provider.for_display();
                match is_default(&provider) {
                    true => self.warn(
                        "Reference to undefined provider",
                        format!(
                            "There is no explicit declaration for local provider name \"{name}\" in {own}, so Terraform is assuming you mean to pass a configuration for \"{shown}\".\n\nIf you also control the child module, add a required_providers entry named \"{name}\" with the source address \"{shown}\"."
                        ),
                        child.name_span,
                    ),
                    false => self.error(
                        "Reference to undefined provider",
                        format!(
                            "The child module does not declare any provider requirement with the local name \"{name}\".\n\nIf you also control the child module, you can add a required_providers entry named \"{name}\" with the source address \"{shown}\" to accept this provider configuration."
                        ),
                        child.name_span,
                    ),
                }
            }
            let given_provider = caller
                .node
                .module
                .settings
                .required_providers
                .get(&given.config.local_name)
                .map_or_else(|| default_provider(&given.config.local_name), |r| r.provider.clone());
            if provider == given_provider {
                continue;
            }
            let other_name = self
                .node
                .module
                .settings
                .required_providers
                .values()
                .find(|required| required.provider == given_provider)
                .map(|required| required.local_name.clone());
            let (wanted, got) = (provider.for_display(), given_provider.for_display());
            match other_name {
                Some(other) => self.error(
                    "Provider type mismatch",
                    format!(
                        "The assigned configuration is for provider \"{wanted}\", but local name \"{}\" in {parent} represents \"{got}\".\n\nTo pass this configuration to the child module, use the local name \"{other}\" instead.",
                        name.local_name
                    ),
                    child.name_span,
                ),
                None => self.error(
                    "Provider type mismatch",
                    format!(
                        "The local name \"{}\" in {parent} represents provider \"{got}\", but \"{name}\" in {own} represents \"{wanted}\".\n\nEach provider has its own distinct configuration schema and provider types, so this module's \"{name}\" can be assigned only a configuration for {wanted}, which is not required by {own}.",
                        given.config
                    ),
                    given.name_span,
                ),
            }
        }
    }

    fn empty_configs(&mut self) {
        let own = module_text(self.node);
        let mut by_name: IndexMap<&str, Vec<(&LocalProviderConfig, Span)>> = IndexMap::new();
        for (config, span) in &self.names.empty {
            by_name.entry(&config.local_name).or_default().push((config, *span));
        }
        let mut warnings = Vec::new();
        for (name, configs) in by_name {
            let source = self
                .required(name)
                .map_or_else(|| default_provider(name).for_display(), ProviderAddress::for_display);
            let mut detail = format!(
                "Earlier versions of Terraform used empty provider blocks (\"proxy provider configurations\") for child modules to declare their need to be passed a provider configuration by their callers. That approach was ambiguous and is now deprecated.\n\nIf you control this module, you can migrate to the new declaration syntax by removing all of the empty provider \"{name}\" blocks and then adding or updating an entry like the following to the required_providers block of {own}:\n    {name} = {{\n      source = \"{source}\"\n"
            );
            if configs.iter().any(|(config, _)| config.alias.is_some()) {
                let mut names: Vec<String> =
                    configs.iter().map(|(config, _)| config.to_string()).collect();
                names.sort();
                detail.push_str("      configuration_aliases = [\n");
                for name in names {
                    detail.push_str(&format!("        {name},\n"));
                }
                detail.push_str("      ]\n");
            }
            detail.push_str("    }");
            if let Some(at) = configs.iter().map(|(_, span)| *span).min() {
                warnings.push((detail, at));
            }
        }
        for (detail, at) in warnings {
            self.warn("Redundant empty provider block", detail, at);
        }
    }
}
