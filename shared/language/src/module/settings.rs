//! The `terraform` block: what a module asks of its surroundings.

use std::sync::Arc;

use indexmap::IndexMap;
use values::Type;
use values::address::ProviderAddress;

use super::decoder::{BlockSchema, Decoder, block, labelled, optional};
use super::provider::LocalProviderConfig;
use super::provider_name::{normalize, parse_source};
use crate::diagnostics::Diagnostic;
use crate::evaluate::constant;
use crate::source::Span;
use crate::syntax::ast::{
    Attribute, Block, Body, Expression, ExpressionKind, ObjectItem, TraversalStep,
};
use crate::version::{COMPATIBLE_TERRAFORM_VERSION, VersionConstraints};

/// The merged content of a module's `terraform` blocks.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `required_version`, one for each block that has it. Checked when the module was loaded.
    pub required_version: Vec<VersionRequirement>,
    /// `required_providers`, by local name.
    pub required_providers: IndexMap<Arc<str>, RequiredProvider>,
    /// Where `required_providers` stands, if there is one.
    pub required_providers_span: Option<Span>,
    /// Where state is kept.
    pub storage: Option<Storage>,
    /// `provider_meta`, by local name.
    pub provider_metas: IndexMap<Arc<str>, ProviderMeta>,
}

impl Settings {
    /// The `backend` block.
    pub fn backend(&self) -> Option<&Backend> {
        match &self.storage {
            Some(Storage::Backend(backend)) => Some(backend),
            _ => None,
        }
    }

    /// The `cloud` block.
    pub fn cloud(&self) -> Option<&Cloud> {
        match &self.storage {
            Some(Storage::Cloud(cloud)) => Some(cloud),
            _ => None,
        }
    }
}

/// Where state is kept: of the two blocks a module may have only one.
#[derive(Clone, Debug)]
pub enum Storage {
    /// A `backend` block.
    Backend(Backend),
    /// A `cloud` block.
    Cloud(Cloud),
}

/// A `backend` block.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The kind of backend, for example `s3`.
    pub kind: Arc<str>,
    /// Where the kind stands.
    pub kind_span: Span,
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

impl Backend {
    /// The kinds that Terraform has, in the version that is the measure of this one.
    pub const KINDS: [&str; 12] = [
        "azurerm",
        "consul",
        "cos",
        "gcs",
        "http",
        "inmem",
        "kubernetes",
        "local",
        "oss",
        "pg",
        "remote",
        "s3",
    ];

    /// What is wrong with its kind, which a module may name as it likes until its state is asked for.
    pub fn unknown_kind(&self, summary: &str) -> Option<Diagnostic> {
        let detail = || format!("There is no backend type named \"{}\".", self.kind);
        let unknown = !Backend::KINDS.contains(&&*self.kind);
        unknown.then(|| Diagnostic::error(summary, detail()).at(self.kind_span))
    }
}

/// A `cloud` block.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

/// A `provider_meta` block.
#[derive(Clone, Debug)]
pub struct ProviderMeta {
    /// The provider's local name.
    pub local_name: Arc<str>,
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

/// One entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// The name that the module uses for the provider.
    pub local_name: Arc<str>,
    /// The `source` argument as written.
    pub source: Option<Arc<str>>,
    /// The provider that is meant.
    pub provider: ProviderAddress,
    /// The `version` argument.
    pub version: Option<VersionRequirement>,
    /// Configurations that the module expects from its caller.
    pub configuration_aliases: Vec<LocalProviderConfig>,
    /// Where the entry's value stands.
    pub span: Span,
}

/// A version constraint as written.
#[derive(Clone, Debug)]
pub struct VersionRequirement {
    /// The text.
    pub text: Arc<str>,
    /// Its meaning.
    pub constraints: VersionConstraints,
    /// Where the argument stands, from its name.
    pub span: Span,
}

const TERRAFORM: BlockSchema = BlockSchema {
    attributes: &[optional("required_version"), optional("experiments"), optional("language")],
    blocks: &[
        labelled("backend", &["type"]),
        block("cloud"),
        block("required_providers"),
        labelled("provider_meta", &["provider"]),
    ],
};

/// What the `terraform` blocks of one file say.
#[derive(Default)]
pub(super) struct SettingsBlocks {
    pub(super) required_version: Vec<VersionRequirement>,
    pub(super) required_providers: Vec<(Vec<RequiredProvider>, Span)>,
    pub(super) backends: Vec<Backend>,
    pub(super) clouds: Vec<Cloud>,
    pub(super) provider_metas: Vec<ProviderMeta>,
}

impl Decoder<'_> {
    pub(super) fn terraform_block(&mut self, block: Block, found: &mut SettingsBlocks) {
        let mut content = self.content(block.body, &TERRAFORM);
        if let Some(attribute) = content.take("required_version") {
            found.required_version.extend(self.version_requirement(&attribute));
        }
        if let Some(attribute) = content.take("language") {
            self.language_edition(&attribute.expression);
        }
        if let Some(attribute) = content.take("experiments") {
            self.error(
                "Module uses experimental features",
                "Experimental features are intended only for gathering early feedback on new language designs, and so are available only in alpha releases of Terraform.",
                attribute.name_span,
            );
        }
        for inner in content.blocks {
            let span = inner.header_span();
            match &*inner.type_name {
                "backend" => {
                    if let Some(label) = inner.labels.first().cloned() {
                        let config = Arc::new(inner.body);
                        let (kind, kind_span) = (label.text, label.span);
                        found.backends.push(Backend { kind, kind_span, config, span });
                    }
                }
                "cloud" => found.clouds.push(Cloud { config: Arc::new(inner.body), span }),
                "required_providers" => {
                    if let Some(providers) = self.required_providers(inner.body) {
                        found.required_providers.push((providers, span));
                    }
                }
                _ => {
                    if let Some(label) = inner.labels.first().cloned()
                        && self.check_provider_name(&label.text, label.span)
                    {
                        self.only_constants(&inner.body);
                        let config = Arc::new(inner.body);
                        let local_name = label.text;
                        found.provider_metas.push(ProviderMeta { local_name, config, span });
                    }
                }
            }
        }
    }

    /// What a module says to a provider is known before anything else is.
    fn only_constants(&mut self, body: &Body) {
        for attribute in &body.attributes {
            self.diagnostics.extend(constant(&attribute.expression).1);
        }
        if let Some(block) = body.blocks.first() {
            let summary = format!("Unexpected {:?} block", &*block.type_name);
            self.error(summary, "Blocks are not allowed here.", block.type_span);
        }
    }

    fn language_edition(&mut self, expression: &Expression) {
        let version = COMPATIBLE_TERRAFORM_VERSION;
        match expression.as_keyword() {
            Some("TF2021") => {}
            Some(_) => self.error(
                "Unsupported language edition",
                format!(
                    "Terraform v{version} only supports language edition TF2021. This module requires a newer version of Terraform CLI."
                ),
                expression.span,
            ),
            None => self.error(
                "Invalid language edition",
                format!(
                    "The language argument expects a bare language edition keyword. Terraform {version} supports only language edition TF2021, which is the default."
                ),
                expression.span,
            ),
        }
    }

    /// A version constraint in an argument of its own; null is none.
    pub(super) fn version_requirement(
        &mut self,
        attribute: &Attribute,
    ) -> Option<VersionRequirement> {
        let expression = &attribute.expression;
        let value = self.constant(expression)?;
        let Ok(value) = values::convert::convert(&value, &Type::String) else {
            self.error(
                VERSION_SUMMARY,
                format!("A string value is required for {}.", attribute.name),
                expression.span,
            );
            return None;
        };
        self.version_text(value.as_str()?, expression.span, attribute.span)
    }

    fn version_text(&mut self, text: &str, at: Span, span: Span) -> Option<VersionRequirement> {
        match text.parse() {
            Ok(constraints) => Some(VersionRequirement { text: text.into(), constraints, span }),
            Err(_) => {
                self.error(
                    VERSION_SUMMARY,
                    "This string does not use correct version constraint syntax.",
                    at,
                );
                None
            }
        }
    }

    fn required_providers(&mut self, body: Body) -> Option<Vec<RequiredProvider>> {
        let (attributes, clean) = self.only_attributes(body);
        let entries = attributes.iter();
        clean.then(|| entries.filter_map(|entry| self.required_provider(entry)).collect())
    }

    fn required_provider(&mut self, attribute: &Attribute) -> Option<RequiredProvider> {
        let name = &attribute.name;
        let span = attribute.expression.span;
        let items = match &attribute.expression.kind {
            ExpressionKind::Object(items) => items,
            // Before providers had sources, an entry was a version alone.
            _ if is_plain(&attribute.expression) => {
                let version = self.version_requirement(attribute);
                let provider = self.implied_provider(name, span)?;
                let (source, configuration_aliases) = (None, Vec::new());
                let local_name = name.clone();
                return Some(RequiredProvider {
                    local_name,
                    source,
                    provider,
                    version,
                    configuration_aliases,
                    span,
                });
            }
            ExpressionKind::Invalid => return None,
            _ => {
                if self.check_provider_name(name, span) {
                    self.error(
                        OBJECT_SUMMARY,
                        "required_providers entries must be strings or objects.",
                        span,
                    );
                }
                return None;
            }
        };
        if !self.check_provider_name(name, span) {
            return None;
        }
        let before = self.diagnostics.len();
        let (mut source, mut provider, mut version) = (None, None, None);
        let mut configuration_aliases = Vec::new();
        for item in items.iter() {
            let key_span = item.key.expression.span;
            let Some(key) = self.object_key(item) else { continue };
            match &*key {
                "version" => match self.plain_string(&item.value) {
                    Some(text) => {
                        version = self.version_text(&text, item.value.span, attribute.span);
                    }
                    None => self.error(
                        VERSION_SUMMARY,
                        "Version must be specified as a string.",
                        item.value.span,
                    ),
                },
                "source" => match self.plain_string(&item.value) {
                    Some(text) => match parse_source(&text) {
                        Ok(address) => {
                            provider = Some(address);
                            source = Some(text);
                        }
                        Err(diagnostic) => self.diagnostics.push(diagnostic.at(item.value.span)),
                    },
                    None => self.error(
                        "Invalid source",
                        "Source must be specified as a string.",
                        item.value.span,
                    ),
                },
                "configuration_aliases" => {
                    configuration_aliases.extend(self.configuration_aliases(name, &item.value));
                }
                _ => {
                    self.error(
                        OBJECT_SUMMARY,
                        "required_providers objects can only contain \"version\", \"source\" and \"configuration_aliases\" attributes. To configure a provider, use a \"provider\" block.",
                        key_span,
                    );
                    break;
                }
            }
        }
        if self.diagnostics.len() > before {
            return None;
        }
        let provider = match provider {
            Some(provider) => provider,
            None => self.implied_provider(name, span)?,
        };
        Some(RequiredProvider {
            local_name: name.clone(),
            source,
            provider,
            version,
            configuration_aliases,
            span,
        })
    }

    fn implied_provider(&mut self, local_name: &str, at: Span) -> Option<ProviderAddress> {
        match normalize(local_name) {
            Ok(name) => Some(ProviderAddress::implied(&name)),
            Err(reason) => {
                self.error("Invalid provider name", reason, at);
                None
            }
        }
    }

    fn object_key(&mut self, item: &ObjectItem) -> Option<Arc<str>> {
        if let Some(name) = item.key.literal_name() {
            return Some(name.into());
        }
        let expression = &item.key.expression;
        let value = self.constant(expression)?;
        let text = value.as_str().map(Arc::from);
        if text.is_none() {
            let shown = self.sources.snippet(expression.span);
            self.error(
                "Invalid Attribute",
                format!("Invalid attribute value for provider requirement: {shown}"),
                expression.span,
            );
        }
        text
    }

    /// A string that is written out; nothing is reported where it is none.
    fn plain_string(&mut self, expression: &Expression) -> Option<Arc<str>> {
        let (value, diagnostics) = constant(expression);
        match diagnostics.has_errors() {
            true => None,
            false => value.as_str().map(Arc::from),
        }
    }

    fn configuration_aliases(
        &mut self,
        local_name: &str,
        expression: &Expression,
    ) -> Vec<LocalProviderConfig> {
        const SUMMARY: &str = "Invalid configuration_aliases value";
        let mut aliases = Vec::new();
        for element in self.list(expression) {
            let Some(traversal) = self.traversal(element) else { continue };
            let alias = match traversal.steps.as_slice() {
                [] => None,
                [TraversalStep::Attribute { name, .. }, ..] => Some(name.clone()),
                _ => {
                    self.error(
                        SUMMARY,
                        "Configuration aliases can only contain references to local provider configuration names in the format of provider.alias",
                        expression.span,
                    );
                    continue;
                }
            };
            if &*traversal.root != local_name {
                self.error(
                    SUMMARY,
                    format!(
                        "Configuration aliases must be prefixed with the provider name. Expected \"{local_name}\", but found \"{}\".",
                        traversal.root
                    ),
                    expression.span,
                );
                continue;
            }
            aliases.push(LocalProviderConfig { local_name: traversal.root.clone(), alias });
        }
        aliases
    }
}

const VERSION_SUMMARY: &str = "Invalid version constraint";
const OBJECT_SUMMARY: &str = "Invalid required_providers object";

/// Whether an expression is a constant string, number or bool.
fn is_plain(expression: &Expression) -> bool {
    let (value, diagnostics) = constant(expression);
    !diagnostics.has_errors() && value.ty().is_primitive()
}
