//! `module` blocks.

use std::sync::Arc;

use super::decoder::{
    BlockSchema, Decoder, block, labelled, merge_override, optional, required, take_body,
};
use super::provider::ProviderReference;
use super::settings::VersionRequirement;
use super::source_address::{ModuleSource, SourceError};
use super::{DependsOn, Repetition};
use crate::source::Span;
use crate::syntax::ast::{Block, Body, Expression, ExpressionKind};

/// A call of a child module.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// Its name.
    pub name: Arc<str>,
    /// Where the child's files are; `None` where that was reported as wrong.
    pub source: Option<ModuleSource>,
    /// The `source` argument as it is written.
    pub written_source: Option<Arc<str>>,
    /// Where the `source` expression stands.
    pub source_span: Option<Span>,
    /// `version`, for modules of a registry.
    pub version: Option<VersionRequirement>,
    /// The arguments for the child's variables: the body without meta-arguments.
    pub config: Arc<Body>,
    /// `count` or `for_each`.
    pub repetition: Repetition,
    /// `providers`: what the child's configurations are in the caller.
    pub providers: Vec<PassedProvider>,
    /// What must be done before anything in the child.
    pub depends_on: DependsOn,
    /// The block's header.
    pub span: Span,
}

impl ModuleCall {
    /// `count`, if the block has it.
    pub fn count(&self) -> Option<&Expression> {
        self.repetition.count()
    }

    /// `for_each`, if the block has it.
    pub fn for_each(&self) -> Option<&Expression> {
        self.repetition.for_each()
    }
}

/// One entry of `providers`.
#[derive(Clone, Debug)]
pub struct PassedProvider {
    /// The configuration as the child calls it.
    pub in_child: ProviderReference,
    /// The configuration as the caller calls it.
    pub in_parent: ProviderReference,
}

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[
        required("source"),
        optional("version"),
        optional("count"),
        optional("for_each"),
        optional("depends_on"),
        optional("providers"),
    ],
    blocks: &[block("_"), block("lifecycle"), block("locals"), labelled("provider", &["type"])],
};

impl Decoder<'_> {
    pub(super) fn module_block(&mut self, block: Block) -> Option<ModuleCall> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let (mut content, mut rest) = self.partial_content(block.body, &SCHEMA, self.overriding);
        self.check_identifier(&label.text, "Invalid module instance name", label.span);
        let version_argument = content.take("version");
        let version = version_argument.as_ref().and_then(|a| self.version_requirement(a));
        let source_argument = content.take("source");
        let source_span = source_argument.as_ref().map(|attribute| attribute.expression.span);
        let written_source = source_argument.and_then(|a| self.literal_string(&a.expression));
        let source = written_source
            .as_ref()
            .zip(source_span)
            .and_then(|(text, span)| self.module_source(text, span, version_argument.is_some()));
        let repetition = self.repetition(&mut content);
        let depends_on =
            content.take("depends_on").map(|a| self.depends_on(&a.expression)).unwrap_or_default();
        let providers = content
            .take("providers")
            .map(|attribute| self.passed_providers(&attribute.expression))
            .unwrap_or_default();
        let mut escape = None;
        for inner in content.blocks {
            match &*inner.type_name {
                "_" => self.escaping_block(
                    &mut escape,
                    inner,
                    &mut rest,
                    "module input variables",
                    "module",
                ),
                other => self.reserved_block(other, "module", inner.type_span),
            }
        }
        Some(ModuleCall {
            name: label.text,
            source,
            written_source,
            source_span,
            version,
            config: Arc::new(rest),
            repetition,
            providers,
            depends_on,
            span,
        })
    }

    pub(super) fn module_source(
        &mut self,
        text: &str,
        at: Span,
        with_version: bool,
    ) -> Option<ModuleSource> {
        let source = match with_version {
            true => ModuleSource::parse_versioned(text),
            false => ModuleSource::parse(text),
        };
        match source {
            Ok(source) => return Some(source),
            Err(SourceError::MaybeRelative { package }) => self.error(
                "Invalid module source address",
                format!(
                    "Terraform failed to determine your intended installation method for remote module package \"{package}\".\n\nIf you intended this as a path relative to the current module, use \"./{package}\" instead. The \"./\" prefix indicates that the address is a relative filesystem path."
                ),
                at,
            ),
            Err(SourceError::Other(reason)) => self.error(
                "Invalid module source address",
                format!("Failed to parse module source address: {reason}."),
                at,
            ),
            Err(SourceError::NotRegistry(reason)) => self.error(
                "Invalid registry module source address",
                format!(
                    "Failed to parse module registry address: {reason}.\n\nTerraform assumed that you intended a module registry source address because you also set the argument \"version\", which applies only to registry modules."
                ),
                at,
            ),
        }
        None
    }

    pub(super) fn passed_providers(&mut self, expression: &Expression) -> Vec<PassedProvider> {
        let items = match &expression.without_parentheses().kind {
            ExpressionKind::Object(items) => items,
            ExpressionKind::Invalid => return Vec::new(),
            _ => {
                self.error(
                    "Invalid expression",
                    "A static map expression is required.",
                    expression.start_span(),
                );
                return Vec::new();
            }
        };
        let mut passed: Vec<PassedProvider> = Vec::new();
        let mut places: Vec<Span> = Vec::new();
        for item in items.iter() {
            let key = &item.key.expression;
            let in_child = self.provider_reference(key, "providers");
            let in_parent = self.provider_reference(&item.value, "providers");
            let (Some(in_child), Some(in_parent)) = (in_child, in_parent) else { continue };
            let known = passed.iter().position(|p| p.in_child.config == in_child.config);
            if let Some(at) = known {
                let place = self.place(places[at]);
                self.error(
                    "Duplicate provider address",
                    format!(
                        "A provider configuration was already passed to {} at {place}. Each child provider configuration can be assigned only once.",
                        in_child.config
                    ),
                    item.value.span,
                );
                continue;
            }
            places.push(key.span.to(item.value.span));
            passed.push(PassedProvider { in_child, in_parent });
        }
        passed
    }
}

impl ModuleCall {
    /// Takes over what an override file says.
    pub(super) fn merge(&mut self, mut overriding: ModuleCall, decoder: &mut Decoder<'_>) {
        if overriding.source_span.is_some() {
            self.source = overriding.source;
            self.written_source = overriding.written_source;
            self.source_span = overriding.source_span;
        }
        if overriding.version.is_some() {
            self.version = overriding.version;
        }
        if !matches!(overriding.repetition, Repetition::Single) {
            self.repetition = overriding.repetition;
        }
        if !overriding.providers.is_empty() {
            self.providers = overriding.providers;
        }
        merge_override(&mut self.config, take_body(&mut overriding.config));
        decoder.refuse_depends_on_override(&overriding.depends_on);
    }
}
