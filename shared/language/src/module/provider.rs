//! `provider` blocks, and references to them.

use std::fmt;
use std::sync::Arc;

use super::decoder::{
    BAD_IDENTIFIER, BlockSchema, Decoder, Quoted, block, merge_override, optional,
    static_traversal, take_body,
};
use super::provider_name::normalize;
use super::settings::VersionRequirement;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Block, Body, Expression, TraversalStep};
use crate::syntax::is_identifier;

/// A provider configuration in the words of one module: `aws`, `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalProviderConfig {
    /// The provider's local name.
    pub local_name: Arc<str>,
    /// The alias, for a configuration beside the default one.
    pub alias: Option<Arc<str>>,
}

impl LocalProviderConfig {
    /// The default configuration of a provider.
    pub fn default_of(local_name: impl Into<Arc<str>>) -> Self {
        Self { local_name: local_name.into(), alias: None }
    }
}

impl fmt::Display for LocalProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.local_name)?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}"),
            None => Ok(()),
        }
    }
}

/// A `provider` argument: names a configuration.
#[derive(Clone, Debug)]
pub struct ProviderReference {
    /// The configuration in the module's own words.
    pub config: LocalProviderConfig,
    /// Where the name stands.
    pub name_span: Span,
    /// Where the alias stands, with its dot.
    pub alias_span: Option<Span>,
}

/// A `provider` block.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// The provider's local name.
    pub local_name: Arc<str>,
    /// The alias.
    pub alias: Option<Arc<str>>,
    /// What the provider's schema describes: the body without meta-arguments.
    pub config: Arc<Body>,
    /// The deprecated `version` argument.
    pub version: Option<VersionRequirement>,
    /// Where the local name stands.
    pub name_span: Span,
    /// The block's header.
    pub span: Span,
}

impl ProviderConfig {
    /// The configuration in the module's own words.
    pub fn address(&self) -> LocalProviderConfig {
        LocalProviderConfig { local_name: self.local_name.clone(), alias: self.alias.clone() }
    }
}

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[
        optional("alias"),
        optional("version"),
        optional("count"),
        optional("depends_on"),
        optional("for_each"),
        optional("source"),
    ],
    blocks: &[block("_"), block("lifecycle"), block("locals")],
};

impl Decoder<'_> {
    pub(super) fn provider_block(&mut self, block: Block) -> Option<ProviderConfig> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let (mut content, mut rest) = self.partial_content(block.body, &SCHEMA, false);
        if !self.check_provider_name(&label.text, span) {
            return None;
        }
        let mut alias = None;
        if let Some(attribute) = content.take("alias") {
            let given = self.literal_string(&attribute.expression).unwrap_or_default();
            if !is_identifier(&given) {
                self.diagnostics.push(Diagnostic::error(
                    "Invalid provider configuration alias",
                    format!("An alias must be a valid name. {BAD_IDENTIFIER}"),
                ));
            }
            alias = Some(given).filter(|alias| !alias.is_empty());
        }
        let mut version = None;
        if let Some(attribute) = content.take("version") {
            self.warning(
                "Version constraints inside provider configuration blocks are deprecated",
                "Terraform 0.13 and earlier allowed provider version constraints inside the provider configuration block, but that is now deprecated and will be removed in a future version of Terraform. To silence this warning, move the provider version constraint into the required_providers block.",
                attribute.expression.span,
            );
            version = self.version_requirement(&attribute);
        }
        for name in ["count", "depends_on", "for_each", "source"] {
            if let Some(attribute) = content.take(name) {
                self.error(
                    "Reserved argument name in provider block",
                    format!(
                        "The provider argument name \"{name}\" is reserved for use by Terraform in a future version."
                    ),
                    attribute.name_span,
                );
            }
        }
        let mut escape = None;
        for inner in content.blocks {
            match &*inner.type_name {
                "_" => self.escaping_block(
                    &mut escape,
                    inner,
                    &mut rest,
                    "provider-specific",
                    "provider",
                ),
                other => self.reserved_block(other, "provider", inner.type_span),
            }
        }
        Some(ProviderConfig {
            local_name: label.text,
            alias,
            config: Arc::new(rest),
            version,
            name_span: label.span,
            span,
        })
    }

    /// Whether a local name is in its normal form; reported where it is not.
    pub(super) fn check_provider_name(&mut self, name: &str, at: Span) -> bool {
        let detail = match normalize(name) {
            Ok(normal) if normal == name => return true,
            Ok(normal) => format!(
                "Provider names must be normalized. Replace \"{name}\" with \"{normal}\" to fix this error."
            ),
            Err(reason) => format!("{name} is an invalid provider local name: {reason}"),
        };
        self.error("Invalid provider local name", detail, at);
        false
    }

    /// The value of a `provider` argument, or a key or value of `providers`.
    pub(super) fn provider_reference(
        &mut self,
        expression: &Expression,
        argument: &str,
    ) -> Option<ProviderReference> {
        const SUMMARY: &str = "Invalid provider configuration reference";
        let traversal = match self.quoted_traversal(expression, Quoted::Reference) {
            Some(quoted) => quoted,
            None => static_traversal(expression),
        };
        let Some(traversal) = traversal.filter(|traversal| traversal.steps.len() <= 1) else {
            let detail = match expression.as_string_literal() {
                Some(_) => {
                    "A provider configuration reference must not be given in quotes.".to_owned()
                }
                None => format!(
                    "The {argument} argument requires a provider type name, optionally followed by a period and then a configuration alias."
                ),
            };
            self.error(SUMMARY, detail, expression.span);
            return None;
        };
        if !self.check_provider_name(&traversal.root, traversal.root_span) {
            return None;
        }
        let (alias, alias_span) = match traversal.steps.first() {
            None => (None, None),
            Some(TraversalStep::Attribute { name, span }) => (Some(name.clone()), Some(*span)),
            Some(other) => {
                self.error(
                    SUMMARY,
                    "Provider name must either stand alone or be followed by a period and then a configuration alias.",
                    other.span(),
                );
                return None;
            }
        };
        Some(ProviderReference {
            config: LocalProviderConfig { local_name: traversal.root.clone(), alias },
            name_span: traversal.root_span,
            alias_span,
        })
    }

    /// The first escaping block (`_`) is merged into the body around it; there may be only one.
    pub(super) fn escaping_block(
        &mut self,
        first: &mut Option<Span>,
        escape: Block,
        rest: &mut Body,
        meaning: &str,
        kind: &str,
    ) {
        let span = escape.header_span();
        if let Some(first) = *first {
            let place = self.place(first);
            self.error(
                "Duplicate escaping block",
                format!(
                    "The special block type \"_\" can be used to force particular arguments to be interpreted as {meaning} rather than as meta-arguments, but each {kind} block can have only one such block. The first escaping block was at {place}."
                ),
                span,
            );
            return;
        }
        *first = Some(span);
        self.merge_escaped(rest, escape.body);
    }

    pub(super) fn reserved_block(&mut self, name: &str, kind: &str, at: Span) {
        self.error(
            format!("Reserved block type name in {kind} block"),
            format!(
                "The block type name \"{name}\" is reserved for use by Terraform in a future version."
            ),
            at,
        );
    }
}

impl ProviderConfig {
    /// Takes over what an override file says.
    pub(super) fn merge(&mut self, mut overriding: ProviderConfig) {
        if let Some(version) = overriding.version {
            self.version = Some(version);
        }
        merge_override(&mut self.config, take_body(&mut overriding.config));
    }
}
